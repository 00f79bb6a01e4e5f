import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import { readBody } from '../../http/body.ts';
import type { Exchange, Handler } from '../../http/exchange.ts';
import type { LoginConnector, Member } from '../../login/connector.ts';
import type { Audit } from '../../operations/audit.ts';
import { type Clock, unixSeconds } from '../../storage/store.ts';
import type { BackendSessions } from '../backend-sessions.ts';
import { connectedAppView } from '../consent-view.ts';
import { type CsrfKeys, csrfToken, isCsrfToken, refuseCrossSite } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { Grants, StandingGrant } from '../grants.ts';
import { accountOf } from '../members.ts';
import { appsPage, appsSignInPage, disconnectPage } from '../pages/apps.ts';
import type { KnownApp } from '../pages/connected-app.ts';
import { createDates } from '../pages/dates.ts';
import { type Pages, preferLanguages, redirect } from '../pages/pages.ts';
import { type AreaNames, byApp, connectedAppOf, pageOf } from './app-list.ts';
import { appsPath, type Carried, carriedBy, disconnectPath, fieldsOf, type Target, targetOf } from './target.ts';
import type { Usage } from './usage.ts';

export interface ConnectedAppsOptions {
  readonly provider: () => Provider;
  readonly connector: LoginConnector;
  readonly grants: Grants;
  readonly usage: Usage;
  /** The members' own sessions that apps act with; undefined when that is not configured. */
  readonly sessions: BackendSessions | undefined;
  readonly origin: string;
  readonly pages: Pages;
  readonly names: AreaNames;
  /** IANA time zone for dates. */
  readonly timeZone: string;
  /** The link back to the course site, if configured. */
  readonly back: string | undefined;
  readonly csrfKeys: CsrfKeys;
  readonly clock: Clock;
  readonly audit: Audit;
}

/**
 * The pages on which members see and disconnect their apps:
 *
 *   list --not signed in--> sign-in at the course site -> returned --still not--> sign-in page
 *    ^ |                                                    |
 *    | +--Disconnect--> ask --form--> disconnect            |
 *    +------------------------------------+-----------------+
 *
 * Each step identifies the member again, and acts only on the member's own grants.
 */
export interface ConnectedApps {
  readonly list: Handler;
  readonly returned: Handler;
  readonly ask: Handler;
  readonly disconnect: Handler;
}

const BODY_LIMIT = 16 * 1024;
/** The most grants read for one member. No member reaches it by hand, and grants expire. */
const MOST_GRANTS = 5000;
/** The most grants of one app that are checked for a session, newest first. */
const MOST_LOOKED_AT = 20;

export function createConnectedApps(options: ConnectedAppsOptions): ConnectedApps {
  const { provider, connector, grants, usage, sessions, origin, pages, names, timeZone, back, csrfKeys, clock } =
    options;

  const grantsOf = ({ sub }: Member) => grants.list({ member: sub }, MOST_GRANTS);
  const signInUrl = (carried: Carried) => {
    // Without a query: many sites accept only a known path as the return address.
    const returnTo = new URL(`${ENDPOINTS.apps}/return`, origin);
    return connector.signInUrl(returnTo, { loginHint: undefined, uiLocales: carried.ui_locales }).href;
  };
  const carriedTo = ({ target }: Exchange): Carried => {
    const carried = carriedBy(new URLSearchParams(target.query));
    preferLanguages(carried.ui_locales);
    return carried;
  };
  /** One CSRF token for each action, so that a leaked token is useless for any other. */
  const actOf = (target: Target) => `apps ${JSON.stringify(target)}`;
  const tokenFor = (target: Target, { sub }: Member) => csrfToken(csrfKeys, actOf(target), sub);
  /** Proves that the gate itself redirected the member, so that a forged link cannot claim a disconnection. */
  const doneToken = (what: Target['kind'], { sub }: Member) => csrfToken(csrfKeys, `disconnected ${what}`, sub);

  /** Runs `work` for the signed-in member, or redirects to the sign-in first. */
  const forMember =
    (work: (exchange: Exchange, member: Member, carried: Carried) => Promise<void>): Handler =>
    async (exchange) => {
      const carried = carriedTo(exchange);
      const member = await connector.identify(exchange.request.headers, exchange.provenance);
      if (member === undefined) redirect(exchange.response, signInUrl(carried));
      else await work(exchange, member, carried);
    };

  const list = async ({ response, target }: Exchange, member: Member, carried: Carried): Promise<void> => {
    const query = new URLSearchParams(target.query);
    const [standing, uses] = await Promise.all([grantsOf(member), usage.of(member.sub)]);
    const apps = byApp(standing, uses);
    const { shown, previous, next } = pageOf(apps, query.get('page'), carried);
    const view = {
      account: accountOf(member),
      done: (['app', 'connection', 'all'] as const).find((what) =>
        isCsrfToken(query.get('done'), csrfKeys, `disconnected ${what}`, member.sub),
      ),
      apps: await Promise.all(
        shown.map(async (app) => ({
          app: await known(app.clientId),
          ownSession: await actsWithSession(app.grants),
          ...connectedAppOf(app, uses, names, carried),
        })),
      ),
      total: apps.length,
      previous,
      next,
      disconnectAll: disconnectPath({ kind: 'all' }, carried),
      back,
    };
    pages.send(response, 200, (words) =>
      appsPage(words, createDates(words.language, timeZone, unixSeconds(clock)), view),
    );
  };

  /** Whether one of the grants has a session. Grants from before this was configured have none. */
  const actsWithSession = async (standing: readonly StandingGrant[]): Promise<boolean> => {
    if (sessions === undefined) return false;
    for (const { id } of standing.slice(0, MOST_LOOKED_AT)) if ((await sessions.find(id)) !== undefined) return true;
    return false;
  };

  /** What is known about the app. A deleted app, or one whose document is unreachable, can still be disconnected. */
  const known = async (clientId: string): Promise<KnownApp | undefined> => {
    try {
      const client = await provider().Client.find(clientId);
      if (client !== undefined) return connectedAppView(client, pages.school);
    } catch (thrown) {
      if (!(thrown instanceof errors.OIDCProviderError)) throw thrown;
    }
    const host = URL.parse(clientId)?.host;
    return host ? { name: host, posing: false, proof: { kind: 'none' }, destinations: [] } : undefined;
  };

  const ask = async ({ response, target: { query } }: Exchange, member: Member, carried: Carried): Promise<void> => {
    const target = targetOf(new URLSearchParams(query));
    const [meant] = target === undefined ? [] : matching(target, await grantsOf(member));
    if (target === undefined || meant === undefined) return redirect(response, appsPath(carried));
    const view = {
      what: target.kind,
      name: (await known(meant.clientId))?.name,
      action: `${ENDPOINTS.apps}/disconnect`,
      fields: { ...fieldsOf(target), ...carried, csrf: tokenFor(target, member) },
      cancel: appsPath(carried),
    };
    pages.send(response, 200, (words) => disconnectPage(words, view));
  };

  const disconnect = async ({ request, response }: Exchange, member: Member): Promise<void> => {
    const form = new URLSearchParams((await readBody(request, BODY_LIMIT)).toString('utf8'));
    const [target, carried] = [targetOf(form), carriedBy(form)];
    // A different member may have signed in since the page was shown. They see their own list.
    if (target === undefined || !isCsrfToken(form.get('csrf'), csrfKeys, actOf(target), member.sub)) {
      return redirect(response, appsPath(carried));
    }
    for (;;) {
      // Read again each time, so that grants created meanwhile are ended too.
      const meant = matching(target, await grantsOf(member));
      const ended = await grants.revokeEach(
        meant.map(({ id }) => id),
        { member: member.sub },
        { by: 'member', reason: 'disconnected' },
      );
      for (const { id, clientId } of ended) {
        options.audit({
          action: 'app_disconnected',
          clientId,
          clientName: (await known(clientId))?.name,
          grantId: id,
          member: member.sub,
          by: 'member',
        });
      }
      if (ended.length === 0) break;
    }
    // After a double click, nothing was left to end, but it is still disconnected.
    redirect(response, appsPath({ ...carried, done: doneToken(target.kind, member) }));
  };

  return {
    list: forMember(list),

    async returned(exchange) {
      const { request, response, provenance } = exchange;
      const carried = carriedTo(exchange);
      const member = await connector.identify(request.headers, provenance);
      if (member !== undefined) return redirect(response, appsPath(carried));
      pages.send(response, 200, (words) => appsSignInPage(words, { signIn: signInUrl(carried), back }));
    },

    ask: forMember(ask),

    async disconnect(exchange) {
      refuseCrossSite(exchange.request, origin);
      await forMember(disconnect)(exchange);
    },
  };
}

function matching(target: Target, grants: readonly StandingGrant[]): readonly StandingGrant[] {
  if (target.kind === 'all') return grants;
  return grants.filter(({ id, clientId }) => (target.kind === 'app' ? clientId === target.clientId : id === target.id));
}
