// The running gate: starts and stops listeners, background tasks and generations, and reloads the configuration.

import { setTimeout as sleep } from 'node:timers/promises';
import { type DocumentNetwork, INTERNET } from '../authorization-server/client-documents/network.ts';
import type { LoadedConfig } from '../config/load.ts';
import { openGround } from '../foundation/ground.ts';
import { RequestsInFlight } from '../http/requests-in-flight.ts';
import { checkInstalled } from '../login/open-login.ts';
import type { ServerFactory } from '../mcp/server.ts';
import { watchEventLoop } from '../operations/event-loop.ts';
import type { Log } from '../operations/log.ts';
import { createLogThrottle } from '../operations/log-throttle.ts';
import type { Clock } from '../storage/store.ts';
import { connectionBounds, descriptorLimit } from './descriptors.ts';
import { openGate } from './gate.ts';
import { openListeners } from './listeners.ts';
import { startMaintenance } from './maintenance.ts';
import { createReload } from './reload.ts';
import type { ServedGates, ServedParts } from './served.ts';

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
  /** Milliseconds after which an unused school is let go, of many: for tests. */
  readonly idle?: number;
}

export type Gateway = Awaited<ReturnType<typeof startGateway>>;

/**
 * Builds every part from the configuration and starts listening. Rejects if the gate cannot start; nothing is left
 * open then.
 */
export async function startGateway(options: GatewayOptions) {
  const { loaded, log, clock, documentNetwork = INTERNET, mcpServer, accessDescriptor } = options;
  await checkInstalled(loaded);
  let draining = false;
  const inFlight = new RequestsInFlight();
  const parts: ServedParts = {
    ...{ loaded, log, clock, inFlight, documentNetwork, mcpServer, idle: options.idle },
    ground: openGround({ loaded, log, clock, accessDescriptor }),
    draining: () => draining,
    storeAwaited: async () => {
      const { answerEarly } = await import('./early-probes.ts');
      return answerEarly({ ...loaded.config.listen.admin, tls: loaded.admin.mtls }, loaded.config.listen.probes);
    },
  };
  const served = await (loaded.schools === undefined
    ? serveOne(parts)
    : (await import('./schools/serve-schools.ts')).serveSchools(parts));

  try {
    const { listen } = loaded.config;
    const files = descriptorLimit();
    const bounds = connectionBounds(files, listen.maxConnections, listen.decisions !== undefined);
    const listeners = await openListeners(loaded, { inFlight, bounds, log, clock }, served.handlers);
    if (bounds.public < listen.maxConnections)
      log.info(
        { descriptors: files, connections: bounds.public },
        'listen.maxConnections is more than the limit of file descriptors allows: raise that limit (LimitNOFILE, ulimit -n)',
      );
    const stopMaintenance = startMaintenance({ ...served, log, draining: () => draining });

    const warnRarely = createLogThrottle({ clock, lines: 1, apart: 60_000 });
    const stopWatching = watchEventLoop((milliseconds) => {
      served.metrics.loopBlocked(milliseconds);
      warnRarely('', (suppressed) => {
        const details = { milliseconds: Math.round(milliseconds), suppressed };
        log.warn(details, 'the event loop was blocked: no request was served meanwhile');
      });
    });

    return {
      publicPort: listeners.publicPort,
      adminPort: listeners.adminPort,
      /**
       * Loads a configuration and applies it. Requests in progress are finished under the previous one. If the new
       * configuration is refused, the previous one stays in use unchanged. The result is also logged. Never rejects.
       */
      reload: served.reloadWith(listeners),
      /** Files beside those of the configuration whose change is a reload, too; undefined if there are none. */
      sources: served.sources,
      /**
       * Reports not ready, stops taking requests, lets those in flight finish for up to `seconds`, then closes everything.
       * Without `seconds`, uses the configured grace period, preceded by the configured notice period.
       */
      async close(seconds?: number): Promise<void> {
        draining = true;
        listeners.announceDrain();
        stopMaintenance();
        stopWatching();
        const { drain } = served.loaded().config.listen;
        if (seconds === undefined) await sleep(drain.notice * 1000);
        for (const gate of served.gates()) gate.hangUp();
        await listeners.drain(seconds ?? drain.grace);
        await served.close();
      },
    };
  } catch (thrown) {
    await served.close();
    throw thrown;
  }
}

async function serveOne(parts: ServedParts): Promise<ServedGates> {
  const gate = await openGate(parts);
  const { foundation, generations, close } = gate;
  const { current } = generations;
  const { store, metrics } = foundation;
  return {
    loaded: () => current().loaded,
    ...{ store, metrics, close },
    handlers: {
      dispatch: () => current().dispatch,
      admin: (request, response) => current().admin(request, response),
      decisions: (...asked) => current().decisions?.(...asked),
    },
    gates: () => [gate],
    reloadWith: (listeners) => createReload({ foundation, generations, listeners, draining: parts.draining }),
  };
}
