// Builds everything that depends on the configuration. A reload builds a new generation and retires the previous one.

import type { RequestListener } from 'node:http';
import type { AuthorizationServer } from '../authorization-server/authorization-server.ts';
import type { DocumentNetwork } from '../authorization-server/client-documents/network.ts';
import { endConnection } from '../authorization-server/end-connection.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Decisions } from '../decisions/decisions.ts';
import type { Events } from '../events/events.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { once } from '../http/once.ts';
import { type RequestsInFlight, requestOf } from '../http/requests-in-flight.ts';
import { createAdmission } from '../limits/admission.ts';
import type { ServerFactory } from '../mcp/server.ts';
import type { Introspect } from '../oauth/introspection.ts';
import type { Observer } from '../operations/observe/observer.ts';
import { notedUse } from '../operations/record/noted-use.ts';
import { createDispatch, type Dispatch } from '../request/dispatch.ts';
import { createInFlight } from '../request/in-flight.ts';
import { cachedIntrospect } from '../resource-server/cache.ts';
import type { OpenAnswers } from '../resource-server/open-answers.ts';
import type { Pools } from '../upstream/pools.ts';
import { buildInterfaces } from './account-and-mcp.ts';
import { openAdmin } from './admin.ts';
import { openAuthorization } from './authorization.ts';
import { buildDecisions } from './decisions.ts';
import { countingRefusals, openEvents } from './events.ts';
import { buildRoutes } from './handlers.ts';
import { requestParts } from './request-parts.ts';
import { servedResources } from './resources.ts';
import { retire } from './retire.ts';
import { openLanes } from './upstreams.ts';

/**
 * Everything that is built from one configuration. It handles requests for as long as that configuration is current.
 */
export interface Generation {
  readonly loaded: LoadedConfig;
  readonly dispatch: Dispatch;
  /** Answers gateways that ask about requests; undefined if none may. */
  readonly decisions: Decisions | undefined;
  /** Handler of the admin listener. */
  readonly admin: RequestListener;
  readonly server: AuthorizationServer;
  /** Undefined unless it is in observe mode. */
  readonly observer: Observer | undefined;
  readonly introspect: Introspect;
  readonly pools: Pools;
  readonly events: Events;
  /** Starts the background work, when this generation becomes current. */
  start(): void;
  /** Closes WebSockets to the site, which would never end on their own. Requests continue. */
  hangUp(): void;
  /**
   * Call it when no more requests arrive. Lets requests in flight finish for up to `seconds`, or until the signal
   * aborts, and then closes everything. Resolves when that is done.
   */
  retire(seconds: number, signal: AbortSignal): Promise<void>;
  /** Closes everything immediately, including what is in use. */
  close(): Promise<void>;
}

export interface GenerationParts {
  readonly foundation: Foundation;
  /** The requests of all generations. */
  readonly inFlight: RequestsInFlight;
  /** Cuts off responses whose token was revoked, shared by all generations. */
  readonly openAnswers: OpenAnswers;
  /** Whether the process is shutting down. */
  readonly draining: () => boolean;
  /** Where client ID metadata documents are fetched from. */
  readonly documentNetwork: DocumentNetwork;
  /** Replaces the configured tools at /mcp. */
  readonly mcpServer: ServerFactory | undefined;
}

/** Rejects with ConfigError, which lists every mistake in the configuration; nothing is left open then. */
export async function createGeneration(loaded: LoadedConfig, parts: GenerationParts): Promise<Generation> {
  const opened = new AsyncDisposableStack();
  try {
    return await build(loaded, parts, opened);
  } catch (thrown) {
    await opened.disposeAsync();
    throw thrown;
  }
}

async function build(
  loaded: LoadedConfig,
  { foundation, inFlight: requests, openAnswers, draining, documentNetwork, mcpServer }: GenerationParts,
  opened: AsyncDisposableStack,
): Promise<Generation> {
  const { config } = loaded;
  const { store, counters, keyring, revocations, metrics, unused, clock, log } = foundation;
  const share = foundation.carriedOver.share();
  opened.defer(share.release);
  const served = servedResources(config);
  const inFlight = createInFlight(requests);

  // Assigned later: upstreams report ended backend sessions to the server, which itself needs the upstreams.
  let server: AuthorizationServer;
  const lanes = await openLanes({
    loaded,
    store,
    clock,
    signing: () => keyring.signing(),
    answered: metrics.called,
    ended: (member, why) => endConnection(server.grants, foundation.audit)(member, why),
    share,
  });
  const { pools, call, site } = lanes;
  opened.defer(() => site?.close());
  const events = openEvents(loaded, { foundation, call });
  opened.defer(events.close);
  const { outbox } = events;
  const authorization = await openAuthorization(loaded, { foundation, lanes, served, documentNetwork, outbox, share });
  opened.defer(authorization.close);
  server = authorization.server;

  const cache = cachedIntrospect(unused.observed(notedUse(server.introspect)), clock, metrics.tokenChecked);
  metrics.watchCache('tokens', cache.held);
  opened.defer(revocations.subscribe(cache.clear));

  const audit = countingRefusals(foundation.audit, events);
  const interfaces = await buildInterfaces(loaded, {
    call,
    audit,
    serverOf: mcpServer,
    remembered: { store, counters, clock },
    onError: (error, what) => log.error({ err: error }, what),
  });
  const admission = createAdmission(config.limits, { counters, clock, audit, share, limited: metrics.limited });
  const routes = buildRoutes(loaded, { foundation, lanes, served, authorization, interfaces, admission });
  const { introspect } = cache;
  const forRequests = requestParts(loaded, {
    foundation,
    openAnswers,
    events,
    routes,
    introspect,
    admission,
    site,
    inFlight,
    share,
    errorPage: authorization.pages.fail,
  });
  const observer = forRequests.observing?.observer;
  const decisions = await buildDecisions(loaded, { foundation, forRequests, routes, identity: lanes.identity });
  const admin = openAdmin(loaded, {
    foundation,
    server,
    events,
    pools,
    observer,
    inFlight,
    share,
    draining,
  });

  const close = once(() => opened.disposeAsync());
  return {
    loaded,
    dispatch: createDispatch(forRequests),
    decisions,
    admin(request, response) {
      inFlight.take(requestOf(response), [inFlight.closed]);
      admin(request, response);
    },
    server,
    observer,
    introspect,
    pools,
    events,
    start() {
      events.start();
    },
    hangUp: () => site?.hangUp(),
    retire: (seconds, signal) => retire({ events, inFlight, site, close }, seconds, signal),
    close,
  };
}
