import type { LoadedConfig } from '../config/load.ts';
import { createGeneration, type Generation, type GenerationParts } from '../generation/generation.ts';
import type { Upstream } from '../upstream/pools.ts';

/** The current generation, and earlier ones that still have requests in flight. */
export type Generations = ReturnType<typeof createGenerations>;

/**
 * Maximum number of retiring generations, because each keeps all its resources. When there are more, the oldest is
 * closed early.
 */
const MOST_ENDING = 8;

/** `create` is another one in the simulation only. */
export function createGenerations(parts: GenerationParts, create = createGeneration) {
  let current: Generation | undefined;
  /** Each with the controller that closes it early; oldest first. */
  const ending = new Map<Generation, AbortController>();

  const retire = (before: Generation, seconds: number): void => {
    const short = new AbortController();
    ending.set(before, short);
    void before.retire(seconds, short.signal).then(
      () => ending.delete(before),
      (err: unknown) => {
        ending.delete(before);
        parts.foundation.log.error({ err }, 'an old configuration could not be let go of');
      },
    );
    for (const oldest of [...ending.values()].slice(0, -MOST_ENDING)) oldest.abort();
  };
  const all = (): readonly Generation[] => [...ending.keys(), ...(current === undefined ? [] : [current])];

  return {
    /** The generation that handles new requests. Throws before the first `begin`. */
    current(): Generation {
      if (current === undefined) throw new Error('Nothing has begun yet.');
      return current;
    },

    /**
     * Builds a generation and makes it the current one; the previous one finishes its requests. `ready` is called once
     * it is built and before it takes requests. If building or `ready` fails, nothing changes.
     */
    async begin(loaded: LoadedConfig, ready?: () => void): Promise<void> {
      const next = await create(loaded, parts);
      try {
        ready?.();
      } catch (thrown) {
        await next.close();
        throw thrown;
      }
      const before = current;
      current = next;
      next.start();
      if (before !== undefined) retire(before, loaded.config.reload.grace);
    },

    /** State of each upstream, summed over all generations. */
    upstreams(): readonly ({ readonly name: string } & ReturnType<Upstream['admission']['state']>)[] {
      const seen = new Set<Upstream>();
      const states = new Map<string, ReturnType<Generations['upstreams']>[number]>();
      for (const [name, upstream] of all().flatMap(({ pools }) => [...pools.all()])) {
        if (seen.has(upstream)) continue;
        seen.add(upstream);
        const state = upstream.admission.state();
        const { requests = 0, streams = 0 } = states.get(name) ?? {};
        states.set(name, { ...state, name, requests: state.requests + requests, streams: state.streams + streams });
      }
      return [...states.values()];
    },

    /** Closes WebSockets, which would never end on their own. Requests continue. */
    hangUp(): void {
      for (const one of all()) one.hangUp();
    },

    /** Closes all generations immediately, with everything still in use. */
    async close(): Promise<void> {
      await Promise.all(all().map((one) => one.close()));
    },
  };
}
