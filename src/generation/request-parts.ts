import { hasConsole, type LoadedConfig } from '../config/load.ts';
import type { EventsPart } from '../events/part.ts';
import { refusedAtGate } from '../events/refusals.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { createProvenance } from '../http/provenance.ts';
import type { RequestRecord } from '../http/request-record.ts';
import { pseudonymOf } from '../http/via.ts';
import type { Introspect } from '../oauth/introspection.ts';
import { createAccessLog } from '../operations/access-log.ts';
import { createRequestRecords, type RequestRecords } from '../operations/request-records.ts';
import { memberPages } from '../request/member-pages.ts';
import type { RequestParts } from '../request/parts.ts';
import type { Route } from '../request/route.ts';
import { proofCheck } from '../resource-server/dpop.ts';
import { createGate } from '../resource-server/gate.ts';
import { deriveKey } from '../storage/seal.ts';
import { unixSeconds } from '../storage/store.ts';
import { createRouting, type Routed } from '../upstream/routing.ts';

interface RequestUses
  extends Pick<
    RequestParts,
    'openAnswers' | 'admission' | 'site' | 'observing' | 'inFlight' | 'errorPage' | 'appsOnly'
  > {
  readonly events: Pick<EventsPart, 'refused'>;
  readonly routes: readonly Routed<Route>[];
  readonly introspect: Introspect;
}

/** Builds what is needed to handle a request from the configuration. */
export function requestParts(
  foundation: Foundation,
  loaded: LoadedConfig,
  { events, routes, introspect, ...uses }: RequestUses,
): Omit<RequestParts, 'connections'> {
  const { config } = loaded;
  const { store, clock } = foundation;
  return {
    ...uses,
    origin: config.origin,
    pseudonym: pseudonymOf(config.origin),
    memberPages: memberPages(config),
    routing: createRouting(routes),
    provenanceOf: createProvenance(config.listen),
    gate: createGate(introspect, proofCheck(store, clock), () => unixSeconds(clock)),
    longestUrl: config.limits.url,
    records: recordsOf(foundation, loaded, events),
  };
}

function recordsOf(foundation: Foundation, loaded: LoadedConfig, events: RequestUses['events']): RequestRecords {
  const { metrics, accessLines, usage, recorder, secret, clock } = foundation;
  const { log } = loaded.config;
  const accessLog =
    accessLines !== undefined && log.access
      ? createAccessLog(accessLines.write, clock, log.member, deriveKey(secret, 'access-log-member'))
      : undefined;
  const connecting = hasConsole(loaded) ? recorder.request : undefined;
  const denied = (record: RequestRecord): void => {
    foundation.denied(record);
    refusedAtGate(events.refused, record);
  };
  return createRequestRecords({ metrics, accessLog, used: usage.count, connecting, denied }, foundation);
}
