import { setTimeout as sleep } from 'node:timers/promises';
import { type DocumentNetwork, INTERNET } from './authorization-server/client-documents/network.ts';
import type { LoadedConfig } from './config/load.ts';
import { openFoundation } from './foundation.ts';
import { createGeneration, type Generation } from './generation.ts';
import { openListeners } from './listeners.ts';
import { checkDriver } from './login/database/check-driver.ts';
import type { ServerFactory } from './mcp/server.ts';
import type { Log } from './operations/log.ts';
import { withPatience } from './storage/patience.ts';
import type { Clock } from './storage/store.ts';
import { startUpkeep } from './upkeep.ts';

export interface GatewayOptions {
  readonly loaded: LoadedConfig;
  readonly log: Log;
  readonly clock: Clock;
  /** The file descriptor the access log goes to, if the configuration asks for one; undefined: nowhere. */
  readonly accessDescriptor?: number;
  /** Where client ID metadata documents are fetched from, when it is not the internet. */
  readonly documentNetwork?: DocumentNetwork;
  /** What answers at /mcp, when it is not the configured tools. */
  readonly mcpServer?: ServerFactory;
}

export interface Gateway {
  readonly publicPort: number;
  readonly adminPort: number;
  /**
   * Says that it is not ready, stops taking requests, lets those in flight end for at most `seconds`, then closes
   * everything. Without `seconds` as configured, which may begin with a notice.
   */
  close(seconds?: number): Promise<void>;
}

/** Builds every part from the configuration and listens. Throws what keeps it from starting; then nothing is left open. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { loaded, log, clock, documentNetwork = INTERNET } = options;
  const { listen, limits } = loaded.config;
  await checkDriver(loaded);
  let current: Generation | undefined;
  const foundation = await openFoundation({
    loaded,
    log,
    clock,
    accessDescriptor: options.accessDescriptor,
    upstreams: () => current?.pools.states() ?? [],
    events: () => current?.events.waiting(),
  });
  let draining = false;

  try {
    const generation = await createGeneration(loaded, {
      foundation,
      documentNetwork,
      mcpServer: options.mcpServer,
      draining: () => draining,
    });
    current = generation;
    const { dispatch, admin, server } = generation;
    const listeners = await openListeners(
      { ...dispatch, request: (request, response) => withPatience(() => dispatch.request(request, response)) },
      { ...listen, longestHead: limits.headers },
      admin,
      { ...listen.admin, tls: loaded.admin.mtls },
      listen.probes,
    );
    const { store, unused } = foundation;
    const stopUpkeep = startUpkeep({ store, server, unused, draining: () => draining, log });

    return {
      publicPort: listeners.publicPort,
      adminPort: listeners.adminPort,
      async close(seconds) {
        draining = true;
        listeners.announceDrain();
        stopUpkeep();
        if (seconds === undefined) await sleep(listen.drain.notice * 1000);
        generation.hangUp();
        await listeners.drain(seconds ?? listen.drain.grace);
        await generation.close();
        await server.usage.flush().catch((error: unknown) => log.error({ err: error }, 'what apps used last is lost'));
        await foundation.close();
      },
    };
  } catch (thrown) {
    await current?.close();
    await foundation.close();
    throw thrown;
  }
}
