import type { Share } from '../config/carried-over.ts';
import { hasConsole } from '../config/has-console.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Events } from '../events/events.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { createProvenance } from '../http/provenance.ts';
import { pseudonymOf } from '../http/via.ts';
import { cookieFilter } from '../login/cookies.ts';
import { loginCookies } from '../login/kinds.ts';
import type { Introspect } from '../oauth/introspection.ts';
import { createAccessLog } from '../operations/access-log.ts';
import { createObserver, type Observer } from '../operations/observe/observer.ts';
import { createRequestRecords, type RequestRecords } from '../operations/request-records.ts';
import { memberPages } from '../request/member-pages.ts';
import type { RequestParts } from '../request/parts.ts';
import type { Route } from '../request/route.ts';
import { proofCheck } from '../resource-server/dpop.ts';
import { createGate } from '../resource-server/gate.ts';
import { deriveKey } from '../storage/seal.ts';
import { unixSeconds } from '../storage/store.ts';
import { createRouting, type Routed } from '../upstream/routing.ts';
import { refusedAtGate } from './events.ts';

export interface RequestPartsOptions
  extends Pick<RequestParts, 'openAnswers' | 'admission' | 'site' | 'inFlight' | 'errorPage'> {
  readonly foundation: Foundation;
  readonly events: Pick<Events, 'refused'>;
  readonly routes: readonly Routed<Route>[];
  readonly introspect: Introspect;
  readonly share: Share;
}

const OBSERVING =
  'OBSERVE MODE: what the routes would refuse is let through to the site; take `enforcement` out to enforce them';

/** Builds what is needed to handle a request from the configuration. */
export function requestParts(loaded: LoadedConfig, options: RequestPartsOptions): Omit<RequestParts, 'connections'> {
  const { config } = loaded;
  const { foundation, openAnswers, routes, introspect, admission, site, inFlight, errorPage } = options;
  const { store, clock, log } = foundation;
  const observer = observerOf(loaded, options);
  if (observer !== undefined) log.warn(OBSERVING);
  return {
    origin: config.origin,
    pseudonym: pseudonymOf(config.origin),
    memberPages: memberPages(config),
    routing: createRouting(routes),
    observing: observer === undefined ? undefined : { observer, enforced: createRouting(enforcedBy(routes, observer)) },
    provenanceOf: createProvenance(config.listen),
    gate: createGate(introspect, proofCheck(store, clock), () => unixSeconds(clock)),
    openAnswers,
    admission,
    site,
    inFlight,
    longestUrl: config.limits.url,
    records: recordsOf(loaded, options),
    errorPage,
  };
}

function observerOf({ config }: LoadedConfig, { foundation: { clock }, share }: RequestPartsOptions) {
  const hasSession = cookieFilter([...loginCookies(config.login), ...config.enforcement.cookies]);
  return createObserver({ config, hasSession: (cookie) => hasSession(cookie) !== '', clock, share });
}

/** The routes that are enforced in observe mode too. */
function enforcedBy(routes: readonly Routed<Route>[], observer: Observer): readonly Routed<Route>[] {
  return routes.filter(({ value: { entry } }) => entry === undefined || !observer.watches(entry));
}

function recordsOf(loaded: LoadedConfig, { foundation, events }: RequestPartsOptions): RequestRecords {
  const { config } = loaded;
  const { metrics, accessLines, usage, recorder, secret, clock, log } = foundation;
  return createRequestRecords({
    metrics,
    accessLog:
      accessLines === undefined || !config.log.access
        ? undefined
        : createAccessLog({
            line: accessLines.write,
            clock,
            member: config.log.member,
            key: deriveKey(secret, 'access-log-member'),
          }),
    used: usage.count,
    connecting: hasConsole(loaded) ? recorder.request : undefined,
    denied(record) {
      foundation.denied(record);
      refusedAtGate(events, record);
    },
    clock,
    log,
  });
}
