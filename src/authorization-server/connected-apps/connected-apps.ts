import type { Exchange } from '../../http/exchange.ts';
import { unixSeconds } from '../../storage/store.ts';
import { isCsrfToken, refuseCrossSite } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { StandingGrant } from '../grants.ts';
import { accountOf } from '../members.ts';
import { appsPage } from '../pages/apps.ts';
import { connectedAppPage, missingAppPage } from '../pages/connected-app.ts';
import { createDates } from '../pages/dates.ts';
import { detailsOf } from './app-details.ts';
import { byApp, pageOf, rowOf } from './app-list.ts';
import { ask, disconnect, doneAct } from './disconnect.ts';
import { descriptionsOf, knownApp } from './known-app.ts';
import {
  backFromSignIn,
  type ConnectedAppsOptions,
  forSignedIn,
  grantsOf,
  type MemberRequest,
} from './member-request.ts';
import { signOut, signOutFormOf } from './sign-out.ts';
import { appsPath, disconnectPath, meantBy, targetOf } from './target.ts';
import { dayOf } from './use-entry.ts';

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
    returned: (exchange: Exchange) => backFromSignIn(options, exchange, RETURN, appsPath),
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

/** The most grants of one app that are checked for a session, newest first. */
const MOST_LOOKED_AT = 20;

/** Without a query: many sites accept only a known path as the return address. */
const RETURN = `${ENDPOINTS.apps}/return`;

function forMember(
  options: ConnectedAppsOptions,
  exchange: Exchange,
  work: (options: ConnectedAppsOptions, request: MemberRequest) => Promise<void>,
): Promise<void> {
  return forSignedIn(options, exchange, RETURN, (request) => work(options, request));
}

async function list(options: ConnectedAppsOptions, { exchange, query, carried, member }: MemberRequest): Promise<void> {
  const { csrfKeys, pages, names, timeZone, clock } = options;
  const [standing, uses] = await Promise.all([grantsOf(options, member), options.usage.of(member.sub)]);
  const apps = byApp(standing, uses);
  const needsNames = carried.q !== undefined || carried.sort === 'name';
  const called = needsNames ? await descriptionsOf(options.store, apps) : new Map();
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
        app: await knownApp(options, app.clientId),
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
  const standing = target?.kind === 'app' ? meantBy(target, await grantsOf(options, member)) : [];
  const uses = standing.length === 0 ? new Map() : await options.usage.of(member.sub);
  const [app] = byApp(standing, uses);
  if (app === undefined) return pages.send(response, 404, (words) => missingAppPage(words, appsPath(carried)));
  const now = unixSeconds(clock);
  const view = {
    app: await knownApp(options, app.clientId),
    ownSession: await actsWithSession(options, app.grants),
    ...detailsOf(app, uses, {
      unredeemed: await options.grants.unredeemed(app.grants),
      ...{ names, carried, today: dayOf(now) },
    }),
  };
  pages.send(response, 200, (words) => connectedAppPage(words, createDates(words.locales, timeZone, now), view));
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
