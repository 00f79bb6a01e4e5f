import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuthorizationServer } from '../authorization-server/authorization-server.ts';
import type { DocumentNetwork } from '../authorization-server/client-documents/network.ts';
import { endConnection } from '../authorization-server/end-connection.ts';
import type { Seat } from '../cluster/seat.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Events } from '../events/events.ts';
import type { Foundation } from '../foundation/foundation.ts';
import { createProvenance } from '../http/provenance.ts';
import { createAdmission } from '../limits/admission.ts';
import { cookieFilter } from '../login/cookies.ts';
import type { ServerFactory } from '../mcp/server.ts';
import type { Introspect } from '../oauth/introspection.ts';
import { createAccessLog } from '../operations/access-log.ts';
import { createObserver } from '../operations/observe/observer.ts';
import { createRequestRecords } from '../operations/request-records.ts';
import { createDispatch, type Dispatch } from '../request/dispatch.ts';
import { createExchanges, type Exchanges } from '../request/in-flight.ts';
import type { Route } from '../request/routes.ts';
import { cachedIntrospect } from '../resource-server/cache.ts';
import { proofCheck } from '../resource-server/dpop.ts';
import { createGate } from '../resource-server/gate.ts';
import type { OpenAnswers } from '../resource-server/open-answers.ts';
import { deriveKey } from '../storage/seal.ts';
import { unixSeconds } from '../storage/store.ts';
import type { Pools } from '../upstream/pools.ts';
import { createRouting } from '../upstream/routing.ts';
import { buildInterfaces } from './account-and-mcp.ts';
import { openAdmin } from './admin.ts';
import { openAuthorization } from './authorization.ts';
import { countingRefusals, openEvents, refusedAtGate } from './events.ts';
import { openDoors } from './handlers.ts';
import { servedResources } from './resources.ts';
import { openLanes } from './upstreams.ts';

/** All that is made from one configuration: what answers requests as long as that one holds. */
export interface Generation {
  readonly loaded: LoadedConfig;
  readonly dispatch: Dispatch;
  /** What answers on the admin listener. */
  readonly admin: RequestListener;
  readonly server: AuthorizationServer;
  /** Whether a token is good, and whose. */
  readonly introspect: Introspect;
  readonly pools: Pools;
  readonly events: Events;
  /** Begins what is done without a request: it answers from now on. */
  start(): void;
  /** Ends what would never end by itself: WebSockets to the site. Requests go on. */
  hangUp(): void;
  /**
   * No more comes to it: lets what it has begun end, for at most so many seconds, and then lets go of everything. It
   * resolves when that is done; an abort of the signal is the end of the time.
   */
  retire(seconds: number, signal: AbortSignal): Promise<void>;
  /** Lets go of everything, what is in use included. */
  close(): Promise<void>;
}

export interface GenerationParts {
  readonly foundation: Foundation;
  /** Every answer that is given to a token, whichever generation gives it. */
  readonly openAnswers: OpenAnswers;
  /** Whether the gate is on its way out. */
  readonly draining: () => boolean;
  /** Where client ID metadata documents are fetched from. */
  readonly documentNetwork: DocumentNetwork;
  /** What answers at /mcp; undefined: the configured tools. */
  readonly mcpServer: ServerFactory | undefined;

  /** What it shares with other workers; undefined: it is the only process. */
  readonly seat: Seat | undefined;
}

/** Milliseconds that what was ended has until everything is let go of. */
const LAST_WORDS = 1_000;
/** What a timer can wait, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;
const OBSERVING =
  'OBSERVE MODE: what the routes would refuse is let through to the site; take `enforcement` out to enforce them';

/** Throws what is wrong with the configuration, as ConfigError; then nothing is left open. */
export async function createGeneration(loaded: LoadedConfig, parts: GenerationParts): Promise<Generation> {
  const { config } = loaded;
  const { foundation, openAnswers } = parts;
  const { store, secret, counters, keyring, usage, revocations, metrics, unused, clock, log } = foundation;
  const served = servedResources(config);
  const share = foundation.heirlooms.share();
  const exchanges = createExchanges();
  const open: (() => unknown)[] = [share.release];
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= (async () => {
      for (const letGo of open.toReversed()) await letGo();
    })();
    return closed;
  };
  let server: AuthorizationServer;

  try {
    const lanes = openLanes({
      loaded,
      store,
      clock,
      signing: () => keyring.signing(),
      answered: metrics.called,
      ended: (member, why) => endConnection(server.grants, foundation.audit)(member, why),
      share,
    });
    const { pools, call, site } = lanes;
    open.push(() => site?.close());
    const events = openEvents(loaded, { foundation, call });
    open.push(events.close);
    const audit = countingRefusals(foundation.audit, events);
    const { documentNetwork } = parts;
    const authorization = await openAuthorization(loaded, {
      foundation,
      lanes,
      served,
      documentNetwork,
      outbox: events.outbox,
      share,
    });
    open.push(authorization.close);
    const { pages } = authorization;
    server = authorization.server;

    const cache = cachedIntrospect(unused.observed(server.introspect), clock, metrics.tokenChecked);
    metrics.watchCache('tokens', cache.held);
    open.push(revocations.subscribe(cache.clear));

    const interfaces = await buildInterfaces(loaded, {
      call,
      audit,
      serverOf: parts.mcpServer,
      remembered: { store, counters, clock },
      onError: (error, what) => log.error({ err: error }, what),
    });
    const admission = createAdmission(config.limits, { counters, clock, audit, share, limited: metrics.limited });
    const routes = openDoors(loaded, { foundation, lanes, served, authorization, interfaces, admission });

    const hasSession = cookieFilter([
      ...(config.login.kind === 'session' ? config.login.cookies : []),
      ...config.enforcement.cookies,
    ]);
    const observer = createObserver({ config, hasSession: (cookie) => hasSession(cookie) !== '', clock, share });
    if (observer !== undefined) log.warn(OBSERVING);
    const isWatched = ({ entry }: Route) => entry !== undefined && observer?.watches(entry) === true;
    const enforced = createRouting(routes.filter(({ value }) => !isWatched(value)));

    const dispatch = createDispatch({
      origin: config.origin,
      observing: observer === undefined ? undefined : { observer, enforced },
      routing: createRouting(routes),
      provenanceOf: createProvenance(config.listen),
      gate: createGate(cache.introspect, proofCheck(store, clock), () => unixSeconds(clock)),
      openAnswers,
      admission,
      site,
      longestUrl: config.limits.url,
      records: createRequestRecords({
        metrics,
        accessLog:
          foundation.accessLines === undefined || !config.log.access
            ? undefined
            : createAccessLog({
                line: foundation.accessLines.write,
                clock,
                member: config.log.member,
                key: deriveKey(secret, 'access-log-member'),
              }),
        used: config.pages.apps.enabled ? usage.count : undefined,
        denied(record) {
          foundation.denied(record);
          refusedAtGate(events, record);
        },
        log,
      }),
      errorPage: pages.fail,
    });
    const admin = openAdmin(loaded, {
      foundation,
      server,
      events,
      observer,
      interfaces,
      draining: parts.draining,
      seat: parts.seat,
    });

    return {
      loaded,
      dispatch: held(dispatch, exchanges),
      admin: (request, response) => exchanges.hold(response, admin(request, response)),
      server,
      introspect: cache.introspect,
      pools,
      events,
      start: events.start,
      hangUp: () => site?.hangUp(),
      async retire(seconds, signal) {
        // From now on the one after it sends them: signed as it says, and to where it says.
        const told = events.close();
        const { promise: late, resolve: isLate } = Promise.withResolvers<void>();
        const timer = setTimeout(isLate, Math.min(seconds * 1000, LONGEST_TIMER)).unref();
        signal.addEventListener('abort', () => isLate(), { once: true });
        if (signal.aborted) isLate();
        const ended = late.then(() => {
          exchanges.endAnswers();
          site?.hangUp();
          return sleep(LAST_WORDS, undefined, { ref: false });
        });
        await Promise.race([exchanges.over(), ended]);
        clearTimeout(timer);
        await told;
        await close();
      },
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

/** The same, and what comes in is known to be under way. */
function held(dispatch: Dispatch, exchanges: Exchanges): Dispatch {
  return {
    ...dispatch,
    request(request, response) {
      const work = dispatch.request(request, response);
      exchanges.hold(response, work);
      return work;
    },
    upgrade(request, socket, head) {
      exchanges.holdSocket(socket);
      dispatch.upgrade(request, socket, head);
    },
  };
}
