import type { LoadedConfig } from '../config/load.ts';
import { createGeneration, type Generation, type GenerationParts } from '../generation/generation.ts';
import type { Upstream } from '../upstream/pools.ts';

/** The generation that answers, and those before it that have not ended yet what they began. */
export interface Generations {
  /** The one that answers what comes now. To be asked after the first was begun. */
  current(): Generation;
  /**
   * Builds one from a configuration, and has it answer from then on; the one before ends what it has begun. In: also what
   * is to be done when it stands and before it answers; when that throws, as when building does, nothing is changed.
   */
  begin(loaded: LoadedConfig, ready?: () => void): Promise<void>;
  /** How each upstream is doing, for all generations together. */
  upstreams(): readonly ({ readonly name: string } & ReturnType<Upstream['admission']['state']>)[];
  /** Ends what would never end by itself. Requests go on. */
  hangUp(): void;
  /** Lets go of all of them, what is in use included. */
  close(): Promise<void>;
}

/** Generations that may be ending at a time, each with all that it was made of; the oldest is cut short for one more. */
const MOST_ENDING = 8;

export function createGenerations(parts: GenerationParts): Generations {
  let current: Generation | undefined;
  /** Each with what cuts it short; the oldest first. */
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
    current() {
      if (current === undefined) throw new Error('Nothing has begun yet.');
      return current;
    },

    async begin(loaded, ready) {
      const next = await createGeneration(loaded, parts);
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

    upstreams() {
      const seen = new Set<Upstream>();
      const states = new Map<string, ReturnType<Generations['upstreams']>[number]>();
      for (const [name, upstream] of all().flatMap(({ pools }) => [...pools.all()])) {
        if (seen.has(upstream)) continue;
        seen.add(upstream);
        const { requests, streams, breaker } = upstream.admission.state();
        const older = states.get(name);
        states.set(name, {
          name,
          requests: requests + (older?.requests ?? 0),
          streams: streams + (older?.streams ?? 0),
          breaker,
        });
      }
      return [...states.values()];
    },

    hangUp() {
      for (const one of all()) one.hangUp();
    },

    async close() {
      await Promise.all(all().map((one) => one.close()));
    },
  };
}
