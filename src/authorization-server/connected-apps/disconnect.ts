import { readBody } from '../../http/body.ts';
import { csrfToken, isCsrfToken } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { disconnectPage } from '../pages/apps.ts';
import { redirect } from '../pages/pages.ts';
import { type AppGrants, byApp } from './app-list.ts';
import { descriptionsOf, knownApp } from './known-app.ts';
import { type ConnectedAppsOptions, grantsOf, type MemberRequest } from './member-request.ts';
import { appsPath, carriedBy, type DisconnectTarget, fieldsOf, meantBy, targetOf } from './target.ts';

const BODY_LIMIT = 16 * 1024;
/** The most names in one list. */
const MOST_NAMED = 200;

/** Asks for confirmation. */
export async function ask(
  options: ConnectedAppsOptions,
  { exchange, query, carried, member }: MemberRequest,
): Promise<void> {
  const { response } = exchange;
  const target = targetOf(query);
  const standing = target === undefined ? [] : meantBy(target, await grantsOf(options, member));
  const [meant] = standing;
  if (target === undefined || meant === undefined) return redirect(response, appsPath(carried));
  const view = {
    what: target.kind,
    name: (await knownApp(options, meant.clientId))?.name,
    all: target.kind === 'all' ? await summaryOf(options, byApp(standing, new Map())) : undefined,
    action: `${ENDPOINTS.apps}/disconnect`,
    fields: { ...fieldsOf(target), ...carried, csrf: csrfToken(options.csrfKeys, actOf(target), member.sub) },
    cancel: appsPath(carried),
  };
  options.pages.send(response, 200, (words) => disconnectPage(words, view));
}

/** Takes the confirmation. */
export async function disconnect(options: ConnectedAppsOptions, { exchange, member }: MemberRequest): Promise<void> {
  const { grants, csrfKeys, audit } = options;
  const form = new URLSearchParams((await readBody(exchange.request, BODY_LIMIT)).toString('utf8'));
  const [target, carried] = [targetOf(form), carriedBy(form)];
  // A different member may have signed in since the page was shown. They see their own list.
  if (target === undefined || !isCsrfToken(form.get('csrf'), csrfKeys, actOf(target), member.sub))
    return redirect(exchange.response, appsPath(carried));
  for (;;) {
    // Read again each time, so that grants created meanwhile are ended too.
    const ids = meantBy(target, await grantsOf(options, member)).map(({ id }) => id);
    const ended = await grants.revokeEach(ids, { member: member.sub }, { by: 'member', reason: 'disconnected' });
    for (const { id: grantId, clientId } of ended) {
      const clientName = (await knownApp(options, clientId))?.name;
      audit({ action: 'app_disconnected', by: 'member', member: member.sub, clientId, clientName, grantId });
    }
    if (ended.length === 0) break;
  }
  // After a double click, nothing was left to end, but it is still disconnected.
  const done = csrfToken(csrfKeys, doneAct(target.kind), member.sub);
  redirect(exchange.response, appsPath({ ...carried, done }));
}

/** How many apps there are, and descriptions of the first. */
async function summaryOf({ store }: ConnectedAppsOptions, apps: readonly AppGrants[]) {
  const described = await descriptionsOf(store, apps.slice(0, MOST_NAMED));
  return { count: apps.length, apps: [...described.values()] };
}

/** One CSRF token for each action, so that a leaked token is useless for any other. */
function actOf(target: DisconnectTarget): string {
  return `apps ${JSON.stringify(target)}`;
}

/** Its token proves that the gate itself redirected the member: a forged link cannot claim a disconnection. */
export function doneAct(what: DisconnectTarget['kind']): string {
  return `disconnected ${what}`;
}
