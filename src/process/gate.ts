import { setImmediate as turn } from 'node:timers/promises';
import { hasConsole, type LoadedConfig } from '../config/load.ts';
import type { StoreWait } from '../foundation/await-store.ts';
import { type Foundation, openFoundation } from '../foundation/foundation.ts';
import type { Ground } from '../foundation/ground.ts';
import type { GenerationParts } from '../generation/generation.ts';
import type { Log } from '../operations/log.ts';
import { createOpenAnswers } from '../resource-server/open-answers.ts';
import type { Clock } from '../storage/store.ts';

/** What every gate of a process is built with. */
export interface GateParts extends Pick<GenerationParts, 'documentNetwork' | 'mcpServer' | 'draining'> {
  readonly clock: Clock;
  /** Called if the store is not ready yet. Returns how to end what it has begun. */
  readonly storeAwaited: StoreWait['waiting'];
}

interface GateOptions extends GateParts, Pick<GenerationParts, 'inFlight'> {
  readonly ground: Ground | Promise<Ground>;
  readonly loaded: LoadedConfig;
  readonly log: Log;
}

/** All that serves one school at one origin: what outlives a reload, and the generations. */
export type OpenGate = Awaited<ReturnType<typeof openGate>>;

/** Rejects if the gate cannot start; nothing of it is left open then. */
export async function openGate(options: GateOptions) {
  const { loaded, log, clock, inFlight, documentNetwork, mcpServer, draining, storeAwaited } = options;
  const open = async (): Promise<Foundation> =>
    openFoundation({
      ...{ loaded, log, clock, inFlight, storeAwaited },
      ground: await options.ground,
      keyLifetime: () => current().loaded.config.keys.rotate,
      upstreams: () => generations.upstreams(),
      events: () => current().events.waiting(),
      hasConsole: () => hasConsole(current().loaded),
    });
  const opening = open();
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
  const generations = createGenerations({ foundation, inFlight, openAnswers, documentNetwork, mcpServer, draining });
  const { current } = generations;
  const close = async (): Promise<void> => {
    openAnswers.close();
    await generations.close();
    await foundation.close();
  };
  try {
    await generations.begin(loaded);
  } catch (thrown) {
    await close();
    throw thrown;
  }
  foundation.revocations.subscribe(openAnswers.revoked);
  return {
    foundation,
    generations,
    /** Closes what would never end on its own. Requests continue. */
    hangUp(): void {
      openAnswers.close();
      generations.hangUp();
    },
    /** Lets requests in flight finish for up to `seconds`, and closes everything. Call it when no more arrive. */
    async retire(seconds: number): Promise<void> {
      await current().retire(seconds, new AbortController().signal);
      await close();
    },
    /** Closes everything immediately, including what is in use. */
    close,
  };
}
