import type { RequestListener } from 'node:http';
import { openAdmin } from './admin.ts';
import { openAuthorization } from './authorization.ts';
import type { AuthorizationServer } from './authorization-server/authorization-server.ts';
import type { DocumentNetwork } from './authorization-server/client-documents/network.ts';
import { endConnection } from './authorization-server/end-connection.ts';
import type { LoadedConfig } from './config/load.ts';
import { createDispatch, type Dispatch } from './dispatch.ts';
import { openDoors } from './doors.ts';
import type { Events } from './events/events.ts';
import type { Foundation } from './foundation.ts';
import { createProvenance } from './http/provenance.ts';
import { buildInterfaces } from './interfaces.ts';
import { createAdmission } from './limits/admission.ts';
import { cookieFilter } from './login/cookies.ts';
import type { ServerFactory } from './mcp/server.ts';
import { createAccessLog } from './operations/access-log.ts';
import { createObserver } from './operations/observe/observer.ts';
import { createRequestRecords } from './operations/request-records.ts';
import { cachedIntrospect } from './resource-server/cache.ts';
import { proofCheck } from './resource-server/dpop.ts';
import { createGate } from './resource-server/gate.ts';
import { createOpenAnswers } from './resource-server/open-answers.ts';
import type { Route } from './routes.ts';
import { servedResources } from './served-resources.ts';
import { deriveKey } from './storage/seal.ts';
import { unixSeconds } from './storage/store.ts';
import type { Pools } from './upstream/pools.ts';
import { createRouting } from './upstream/routing.ts';
import { openLanes } from './upstream-lanes.ts';
import { countingRefusals, openEvents, refusedAtGate } from './webhooks.ts';

/** All that is made from one configuration: what answers requests as long as that one holds. */
export interface Generation {
  readonly dispatch: Dispatch;
  /** What answers on the admin listener. */
  readonly admin: RequestListener;
  readonly server: AuthorizationServer;
  readonly pools: Pools;
  readonly events: Events;
  /** Ends what would never end by itself: WebSockets to the site. Requests go on. */
  hangUp(): void;
  /** Lets go of everything, what is in use included. */
  close(): Promise<void>;
}

export interface GenerationParts {
  readonly foundation: Foundation;
  /** Where client ID metadata documents are fetched from. */
  readonly documentNetwork: DocumentNetwork;
  /** What answers at /mcp; undefined: the configured tools. */
  readonly mcpServer: ServerFactory | undefined;
  /** Whether the gate is on its way out. */
  readonly draining: () => boolean;
}

const OBSERVING =
  'OBSERVE MODE: what the routes would refuse is let through to the site; take `enforcement` out to enforce them';

/** Throws what is wrong with the configuration, as ConfigError; then nothing is left open. */
export async function createGeneration(loaded: LoadedConfig, parts: GenerationParts): Promise<Generation> {
  const { config } = loaded;
  const { foundation } = parts;
  const { store, secret, bus, counters, keyring, metrics, unused, clock, log } = foundation;
  const served = servedResources(config);
  const lanes = openLanes({
    loaded,
    store,
    clock,
    signing: () => keyring.signing(),
    answered: metrics.called,
    ended: (member, why) => endConnection(server.grants, foundation.audit)(member, why),
  });
  const { pools, call, site } = lanes;
  const events = openEvents(loaded, { foundation, call });
  const audit = countingRefusals(foundation.audit, events);
  const open: (() => unknown)[] = [events.close, () => site?.close(), () => pools.close()];
  const close = async (): Promise<void> => {
    for (const letGo of open) await letGo();
  };
  let server: AuthorizationServer;

  try {
    const { documentNetwork } = parts;
    const onRevoked = () => revoked();
    const authorization = openAuthorization(loaded, {
      foundation,
      lanes,
      served,
      documentNetwork,
      outbox: events.outbox,
      onRevoked,
    });
    open.push(authorization.close);
    const { pages } = authorization;
    server = authorization.server;

    const cache = cachedIntrospect(unused.observed(server.introspect), clock);
    const openAnswers = createOpenAnswers({
      introspect: cache.introspect,
      stands: server.stands,
      clock,
      onCut: (answers) => log.info({ answers }, 'answers under way were cut off: what let them in was revoked'),
    });
    const revoked = () => {
      cache.clear();
      openAnswers.revoked();
    };
    bus.subscribe(revoked);

    const interfaces = buildInterfaces(loaded, {
      call,
      audit,
      serverOf: parts.mcpServer,
      remembered: { store, counters, clock },
      onError: (error, what) => log.error({ err: error }, what),
    });
    const admission = createAdmission(config.limits, counters, clock, audit);
    const routes = openDoors(loaded, { foundation, lanes, served, authorization, interfaces, admission });

    const hasSession = cookieFilter([
      ...(config.login.kind === 'session' ? config.login.cookies : []),
      ...config.enforcement.cookies,
    ]);
    const observer = createObserver({ config, hasSession: (cookie) => hasSession(cookie) !== '', clock });
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
          foundation.accessLines === undefined
            ? undefined
            : createAccessLog({
                line: foundation.accessLines.write,
                clock,
                member: config.log.member,
                key: deriveKey(secret, 'access-log-member'),
              }),
        used: config.pages.apps.enabled ? server.usage.count : undefined,
        denied(record) {
          foundation.denied(record);
          refusedAtGate(events, record);
        },
        log,
      }),
      errorPage: pages.fail,
    });
    const admin = openAdmin(loaded, { foundation, server, events, observer, interfaces, draining: parts.draining });

    events.start();

    return {
      dispatch,
      admin: (request, response) => void admin(request, response),
      server,
      pools,
      events,
      hangUp() {
        openAnswers.close();
        site?.hangUp();
      },
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}
