import { errors } from 'oidc-provider';
import { readBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Member } from '../../login/connector.ts';
import { type Store, unixSeconds } from '../../storage/store.ts';
import { connectedAppView } from '../consent-view.ts';
import { csrfToken, isCsrfToken, refuseCrossSite } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { StandingGrant } from '../grants.ts';
import type { InteractionParts } from '../interactions/interaction-parts.ts';
import { accountOf } from '../members.ts';
import type { KnownApp } from '../pages/app-row.ts';
import { appsPage, appsSignInPage, disconnectPage } from '../pages/apps.ts';
import { connectedAppPage, missingAppPage } from '../pages/connected-app.ts';
import { createDates } from '../pages/dates.ts';
import { preferLanguages, redirect } from '../pages/pages.ts';
import { detailsOf } from './app-details.ts';
import { byApp, needsNames, pageOf, rowOf } from './app-list.ts';
import { descriptionsOf, namesIn } from './app-names.ts';
import type { AreaNames } from './areas.ts';
import { signOut, signOutFormOf } from './sign-out.ts';
import {
  appsPath,
  type CarriedParameters,
  carriedBy,
  type DisconnectTarget,
  disconnectPath,
  fieldsOf,
  targetOf,
} from './target.ts';
import type { Usage } from './usage.ts';
import { dayOf } from './use-entry.ts';

type Shared =
  | 'provider'
  | 'connector'
  | 'grants'
  | 'sessions'
  | 'origin'
  | 'pages'
  | 'csrfKeys'
  | 'clock'
  | 'audit'
  | 'timeZone';

export interface ConnectedAppsOptions extends Pick<InteractionParts, Shared> {
  readonly usage: Usage;
  readonly names: AreaNames;
  readonly store: Store;
}

/**
 * The pages on which members see and disconnect their apps:
 *
 *   list --not signed in--> sign-in at the course site -> returned --still not--> sign-in page
 *    ^ |                                                    |
 *    | +--> details --+                                     |
 *    | +--------------+--Disconnect--> ask --form--> disconnect
 *    +----------------------------------------------+-------+
 *
 * Each step identifies the member again, and acts only on the member's own grants.
 */
export function createConnectedApps(options: ConnectedAppsOptions) {
  return {
    list: (exchange: Exchange) => forMember(options, exchange, list),
    returned: (exchange: Exchange) => returned(options, exchange),
    details: (exchange: Exchange) => forMember(options, exchange, details),
    ask: (exchange: Exchange) => forMember(options, exchange, ask),
    signOut: (exchange: Exchange) => signOut(options, exchange),
    async disconnect(exchange: Exchange) {
      refuseCrossSite(exchange.request, options.origin);
      await forMember(options, exchange, disconnect);
    },
  };
}

/** The handlers of these pages. */
export type ConnectedApps = ReturnType<typeof createConnectedApps>;

const BODY_LIMIT = 16 * 1024;
/** The most grants read for one member. No member reaches it by hand, and grants expire. */
const MOST_GRANTS = 5000;
/** The most grants of one app that are checked for a session, newest first. */
const MOST_LOOKED_AT = 20;

/** A signed-in member's request for one of these pages. */
interface MemberRequest {
  readonly exchange: Exchange;
  readonly query: URLSearchParams;
  readonly carried: CarriedParameters;
  readonly member: Member;
}

/** Runs `work` for the signed-in member, or redirects to the sign-in first. */
async function forMember(
  options: ConnectedAppsOptions,
  exchange: Exchange,
  work: (options: ConnectedAppsOptions, request: MemberRequest) => Promise<void>,
): Promise<void> {
  const { query, carried, member } = await arrive(options, exchange);
  if (member === undefined) redirect(exchange.response, signInUrl(options, carried));
  else await work(options, { exchange, query, carried, member });
}

/** Shown to a member who comes back from the sign-in: the list, or a page that asks to sign in. */
async function returned(options: ConnectedAppsOptions, exchange: Exchange): Promise<void> {
  const { carried, member } = await arrive(options, exchange);
  if (member !== undefined) return redirect(exchange.response, appsPath(carried));
  const signIn = signInUrl(options, carried);
  options.pages.send(exchange.response, 200, (words) => appsSignInPage(words, signIn));
}

async function arrive({ connector }: ConnectedAppsOptions, { request, target, provenance }: Exchange) {
  const query = new URLSearchParams(target.query);
  const carried = carriedBy(query);
  preferLanguages(carried.ui_locales);
  return { query, carried, member: await connector.identify(request.headers, provenance) };
}

function signInUrl({ connector, origin }: ConnectedAppsOptions, { ui_locales }: CarriedParameters): string {
  // Without a query: many sites accept only a known path as the return address.
  const returnTo = new URL(`${ENDPOINTS.apps}/return`, origin);
  return connector.signInUrl(returnTo, { loginHint: undefined, uiLocales: ui_locales }).href;
}

async function list(options: ConnectedAppsOptions, { exchange, query, carried, member }: MemberRequest): Promise<void> {
  const { csrfKeys, pages, names, timeZone, clock } = options;
  const [standing, uses] = await Promise.all([grantsOf(options, member), options.usage.of(member.sub)]);
  const apps = byApp(standing, uses);
  const called = needsNames(carried) ? await descriptionsOf(options.store, apps) : new Map();
  const { shown, ...page } = pageOf(apps, carried, { names, now: unixSeconds(clock), called });
  const unredeemed = await options.grants.unredeemed(shown.flatMap(({ grants }) => grants));
  const view = {
    account: accountOf(member),
    signOut: signOutFormOf(options, member, carried),
    done: (['app', 'connection', 'all'] as const).find((what) =>
      isCsrfToken(query.get('done'), csrfKeys, doneAct(what), member.sub),
    ),
    apps: await Promise.all(
      shown.map(async (app) => ({
        app: await known(options, app.clientId),
        ...rowOf(app, unredeemed, names, carried),
      })),
    ),
    total: apps.length,
    ...page,
    disconnectAll: disconnectPath({ kind: 'all' }, carried),
  };
  pages.send(exchange.response, 200, (words) =>
    appsPage(words, createDates(words.locales, timeZone, unixSeconds(clock)), view),
  );
}

/** Another member's app, and one that is not connected, are the same 404. */
async function details(
  options: ConnectedAppsOptions,
  { exchange, query, carried, member }: MemberRequest,
): Promise<void> {
  const { pages, names, timeZone, clock } = options;
  const { response } = exchange;
  const target = targetOf(query);
  const standing = target?.kind === 'app' ? matching(target, await grantsOf(options, member)) : [];
  const uses = standing.length === 0 ? new Map() : await options.usage.of(member.sub);
  const [app] = byApp(standing, uses);
  if (app === undefined) return pages.send(response, 404, (words) => missingAppPage(words, appsPath(carried)));
  const now = unixSeconds(clock);
  const view = {
    app: await known(options, app.clientId),
    ownSession: await actsWithSession(options, app.grants),
    ...detailsOf(app, uses, {
      unredeemed: await options.grants.unredeemed(app.grants),
      ...{ names, carried, today: dayOf(now) },
    }),
  };
  pages.send(response, 200, (words) => connectedAppPage(words, createDates(words.locales, timeZone, now), view));
}

function grantsOf({ grants }: ConnectedAppsOptions, { sub }: Member): Promise<readonly StandingGrant[]> {
  return grants.list({ member: sub }, MOST_GRANTS);
}

/** Whether one of the grants has a session. Grants from before this was configured have none. */
async function actsWithSession(
  { sessions }: ConnectedAppsOptions,
  standing: readonly StandingGrant[],
): Promise<boolean> {
  for (const { id } of sessions === undefined ? [] : standing.slice(0, MOST_LOOKED_AT))
    if ((await sessions?.find(id)) !== undefined) return true;
  return false;
}

/** What is known about the app. A deleted app, or one whose document is unreachable, can still be disconnected. */
async function known({ provider, pages }: ConnectedAppsOptions, clientId: string): Promise<KnownApp | undefined> {
  try {
    const client = await provider().Client.find(clientId);
    if (client !== undefined) return connectedAppView(client, pages.school);
  } catch (thrown) {
    if (!(thrown instanceof errors.OIDCProviderError)) throw thrown;
  }
  const host = URL.parse(clientId)?.host;
  return host ? { name: host, posing: undefined, proof: { kind: 'none' }, destinations: [] } : undefined;
}

async function ask(options: ConnectedAppsOptions, { exchange, query, carried, member }: MemberRequest): Promise<void> {
  const { response } = exchange;
  const target = targetOf(query);
  const standing = target === undefined ? [] : matching(target, await grantsOf(options, member));
  const [meant] = standing;
  if (target === undefined || meant === undefined) return redirect(response, appsPath(carried));
  const view = {
    what: target.kind,
    name: (await known(options, meant.clientId))?.name,
    all: target.kind === 'all' ? await namesIn(options.store, byApp(standing, new Map())) : undefined,
    action: `${ENDPOINTS.apps}/disconnect`,
    fields: { ...fieldsOf(target), ...carried, csrf: csrfToken(options.csrfKeys, actOf(target), member.sub) },
    cancel: appsPath(carried),
  };
  options.pages.send(response, 200, (words) => disconnectPage(words, view));
}

async function disconnect(options: ConnectedAppsOptions, { exchange, member }: MemberRequest): Promise<void> {
  const { grants, csrfKeys, audit } = options;
  const form = new URLSearchParams((await readBody(exchange.request, BODY_LIMIT)).toString('utf8'));
  const [target, carried] = [targetOf(form), carriedBy(form)];
  // A different member may have signed in since the page was shown. They see their own list.
  if (target === undefined || !isCsrfToken(form.get('csrf'), csrfKeys, actOf(target), member.sub)) {
    return redirect(exchange.response, appsPath(carried));
  }
  for (;;) {
    // Read again each time, so that grants created meanwhile are ended too.
    const ids = matching(target, await grantsOf(options, member)).map(({ id }) => id);
    const ended = await grants.revokeEach(ids, { member: member.sub }, { by: 'member', reason: 'disconnected' });
    for (const { id: grantId, clientId } of ended) {
      const clientName = (await known(options, clientId))?.name;
      audit({ action: 'app_disconnected', by: 'member', member: member.sub, clientId, clientName, grantId });
    }
    if (ended.length === 0) break;
  }
  // After a double click, nothing was left to end, but it is still disconnected.
  const done = csrfToken(csrfKeys, doneAct(target.kind), member.sub);
  redirect(exchange.response, appsPath({ ...carried, done }));
}

/** One CSRF token for each action, so that a leaked token is useless for any other. */
function actOf(target: DisconnectTarget): string {
  return `apps ${JSON.stringify(target)}`;
}

/** Its token proves that the gate itself redirected the member: a forged link cannot claim a disconnection. */
function doneAct(what: DisconnectTarget['kind']): string {
  return `disconnected ${what}`;
}

function matching(target: DisconnectTarget, grants: readonly StandingGrant[]): readonly StandingGrant[] {
  if (target.kind === 'all') return grants;
  return grants.filter(({ id, clientId }) => (target.kind === 'app' ? clientId === target.clientId : id === target.id));
}
