// Builds everything that depends on the configuration. A reload builds a new generation and retires the previous one.

import type { RequestListener } from 'node:http';
import { holdsCalls } from '../approvals/kind.ts';
import type { AuthorizationServer } from '../authorization-server/authorization-server.ts';
import type { DocumentNetwork } from '../authorization-server/client-documents/network.ts';
import { endConnection } from '../authorization-server/end-connection.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Decisions } from '../decisions/decisions.ts';
import { type EventsPart, openEvents } from '../events/part.ts';
import { countingRefusals } from '../events/refusals.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { once } from '../http/once.ts';
import { type RequestList, requestOf } from '../http/requests-in-flight.ts';
import { createAdmission } from '../limits/admission.ts';
import type { ServerFactory } from '../mcp/server.ts';
import type { Introspect } from '../oauth/introspection.ts';
import type { Observer } from '../operations/observe/observer.ts';
import { openObserve } from '../operations/observe/part.ts';
import { notedUse } from '../operations/record/noted-use.ts';
import { createDispatch, type Dispatch } from '../request/dispatch.ts';
import { createInFlight } from '../request/in-flight.ts';
import { cachedIntrospect } from '../resource-server/cache.ts';
import type { OpenAnswers } from '../resource-server/open-answers.ts';
import { createRoleScopes } from '../roles/role-scopes.ts';
import { NO_ROLES } from '../roles/roles.ts';
import type { Pools } from '../upstream/pools.ts';
import { openAdmin } from './admin.ts';
import { openAuthorization } from './authorization.ts';
import { buildRoutes } from './handlers.ts';
import { openInterfaces } from './interfaces.ts';
import { machinePages } from './machine-pages.ts';
import type { GatePart } from './part.ts';
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
  readonly events: Pick<EventsPart, 'waiting'>;
  /** Whether it handles no request, and no event waits for its backend. */
  isIdle(): boolean;
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
  readonly inFlight: RequestList;
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
  { foundation, inFlight: requests, openAnswers, draining, documentNetwork, mcpServer: serverOf }: GenerationParts,
  opened: AsyncDisposableStack,
): Promise<Generation> {
  const { config } = loaded;
  const { counters, revocations, metrics, unused, clock } = foundation;
  const share = foundation.carriedOver.share();
  opened.defer(share.release);
  const served = servedResources(config);
  const inFlight = createInFlight(requests);
  const parts: GatePart[] = [];
  const open = <P extends GatePart>(part: P): P => {
    parts.push(part);
    opened.defer(() => part.stop?.());
    return part;
  };

  const lanes = await openLanes(foundation, loaded, {
    share,
    ended: (member, why) => endConnection(server.grants, foundation.audit)(member, why),
  });
  const { pools, call, site, identity } = lanes;
  opened.defer(() => site?.close());
  const roles =
    config.roles === undefined
      ? NO_ROLES
      : (await import('../roles/member-roles.ts')).openRoles(config.roles, loaded, { call, clock });
  const roleScopes = createRoleScopes(config.scopes, roles.of);
  const events = open(openEvents(foundation, loaded, { call }));
  const authorization = await openAuthorization(foundation, loaded, {
    lanes,
    served,
    documentNetwork,
    outbox: events.outbox,
    share,
    roleScopes,
    forgetRoles: roles.forget,
  });
  opened.defer(authorization.close);
  const { server } = authorization;

  const { introspect, held, clear } = cachedIntrospect(
    unused.observed(notedUse(server.introspect)),
    clock,
    metrics.tokenChecked,
  );
  metrics.watchCache('tokens', held);
  opened.defer(revocations.subscribe(clear));

  const audit = countingRefusals(foundation.audit, events.refused);
  const approvals = holdsCalls(config)
    ? open((await import('../approvals/part.ts')).openApprovals(foundation, loaded))
    : undefined;
  const hold = approvals?.hold;
  const interfaces = await openInterfaces(foundation, loaded, { call, rolesOf: roles.of, hold, audit, serverOf });
  const admission = createAdmission(config.limits, { counters, clock, audit, share, limited: metrics.limited });
  const machine = machinePages(config, authorization.pages);
  const routes = buildRoutes(loaded, {
    lanes,
    served,
    authorization,
    interfaces,
    admission,
    machine,
    rolesOf: roles.of,
    approvals,
  });
  const { observing } = open(openObserve(foundation, loaded, { routes, share }));
  const forRequests = requestParts(foundation, loaded, {
    ...{ openAnswers, admission, site, observing, inFlight, events, routes },
    introspect: roleScopes.introspect(introspect),
    errorPage: authorization.pages.fail,
    appsOnly: machine.appsOnly,
  });
  const decisions =
    config.listen.decisions &&
    (await import('../decisions/part.ts')).openDecisions(foundation, loaded, { forRequests, routes, identity });
  const observer = observing?.observer;
  const admin = openAdmin(foundation, loaded, { server, events, pools, observer, inFlight, share, parts, draining });

  const stop = () => Promise.all(parts.map((part) => part.stop?.()));
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
    isIdle: () => inFlight.idle && Object.values(events.waiting().events).every((count) => count === 0),
    start() {
      for (const part of parts) part.start?.();
    },
    hangUp: () => site?.hangUp(),
    retire: (seconds, signal) => retire({ stop, inFlight, site, close }, seconds, signal),
    close,
  };
}
