// The running gate: starts and stops listeners, background tasks and generations, and reloads the configuration.

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { type DocumentNetwork, INTERNET } from '../authorization-server/client-documents/network.ts';
import { hasConsole, type LoadedConfig } from '../config/load.ts';
import { openFoundation } from '../foundation/foundation.ts';
import { RequestsInFlight } from '../http/requests-in-flight.ts';
import { checkInstalled } from '../login/open-login.ts';
import type { ServerFactory } from '../mcp/server.ts';
import { watchEventLoop } from '../operations/event-loop.ts';
import type { Log } from '../operations/log.ts';
import { createLogThrottle } from '../operations/log-throttle.ts';
import { createOpenAnswers } from '../resource-server/open-answers.ts';
import type { Clock } from '../storage/store.ts';
import { connectionBounds, descriptorLimit } from './descriptors.ts';
import { openListeners } from './listeners.ts';
import { startMaintenance } from './maintenance.ts';
import { createReload, type Reload } from './reload.ts';

export interface GatewayOptions {
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly clock: Clock;
  /** File descriptor of the access log, if the configuration enables it; undefined when there is none. */
  readonly accessDescriptor?: number;
  /** Where client ID metadata documents are fetched from, if not from the internet. */
  readonly documentNetwork?: DocumentNetwork;
  /** Replaces the configured tools at /mcp. */
  readonly mcpServer?: ServerFactory;
}

export interface Gateway {
  readonly publicPort: number;
  readonly adminPort: number;
  /**
   * Loads a configuration and applies it. Requests in progress are finished under the previous one. If the new
   * configuration is refused, the previous one stays in use unchanged. The result is also logged. Never rejects.
   */
  reload(load: () => Promise<LoadedConfig>): Promise<Reload>;
  /**
   * Reports not ready, stops taking requests, lets those in flight finish for up to `seconds`, then closes everything.
   * Without `seconds`, uses the configured grace period, preceded by the configured notice period.
   */
  close(seconds?: number): Promise<void>;
}

/**
 * Builds every part from the configuration and starts listening. Rejects if the gate cannot start; nothing is left
 * open then.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { loaded, log, clock, documentNetwork = INTERNET, mcpServer, accessDescriptor } = options;
  await checkInstalled(loaded);
  let draining = false;
  const inFlight = new RequestsInFlight();
  const opening = openFoundation({
    loaded,
    log,
    clock,
    accessDescriptor,
    inFlight,
    keyLifetime: () => current().loaded.config.keys.rotate,
    upstreams: () => generations.upstreams(),
    events: () => current().events.waiting(),
    hasConsole: () => hasConsole(current().loaded),
    storeAwaited: async () => {
      const { answerEarly } = await import('./early-probes.ts');
      return answerEarly({ ...loaded.config.listen.admin, tls: loaded.admin.mtls }, loaded.config.listen.probes);
    },
  });
  // Most of the program is loaded while threads make the keys of a new store, or its server answers.
  const loading = turn().then(() => import('./generations.ts'));
  const [foundation, { createGenerations }] = await Promise.all([opening, loading]);
  const openAnswers = createOpenAnswers({
    inFlight,
    introspect: (token) => current().introspect(token),
    isActive: (grantId) => current().server.isActive(grantId),
    clock,
    onCut: (answers) => log.info({ answers }, 'answers under way were cut off: what let them in was revoked'),
  });
  const generations = createGenerations({
    foundation,
    inFlight,
    openAnswers,
    documentNetwork,
    mcpServer,
    draining: () => draining,
  });
  const { current } = generations;

  try {
    await generations.begin(loaded);
    foundation.revocations.subscribe(openAnswers.revoked);
    const { listen } = loaded.config;
    const files = descriptorLimit();
    const bounds = connectionBounds(files, listen.maxConnections, listen.decisions !== undefined);
    const listeners = await openListeners(loaded, inFlight, bounds, {
      dispatch: () => current().dispatch,
      admin: (request, response) => current().admin(request, response),
      decisions: () => current().decisions,
    });
    if (bounds.public < listen.maxConnections)
      log.info(
        { descriptors: files, connections: bounds.public },
        'listen.maxConnections is more than the limit of file descriptors allows: raise that limit (LimitNOFILE, ulimit -n)',
      );
    const stopMaintenance = startMaintenance(foundation, current, () => draining);

    const warnRarely = createLogThrottle({ clock, lines: 1, apart: 60_000 });
    const stopWatching = watchEventLoop((milliseconds) => {
      foundation.metrics.loopBlocked(milliseconds);
      warnRarely('', (suppressed) => {
        const details = { milliseconds: Math.round(milliseconds), suppressed };
        log.warn(details, 'the event loop was blocked: no request was served meanwhile');
      });
    });

    return {
      publicPort: listeners.publicPort,
      adminPort: listeners.adminPort,
      reload: createReload({ foundation, generations, listeners, draining: () => draining }),
      async close(seconds) {
        draining = true;
        listeners.announceDrain();
        stopMaintenance();
        stopWatching();
        const { drain } = current().loaded.config.listen;
        if (seconds === undefined) await sleep(drain.notice * 1000);
        openAnswers.close();
        generations.hangUp();
        await listeners.drain(seconds ?? drain.grace);
        await generations.close();
        await foundation.close();
      },
    };
  } catch (thrown) {
    await generations.close();
    await foundation.close();
    throw thrown;
  }
}
