/** A repeatable source of numbers: the same seed always gives the same school. */
export interface Random {
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  /** One item of a list that is not empty. */
  pick<T>(items: readonly T[]): T;
  /** The same items in another order; the given list stays as it is. */
  shuffle<T>(items: readonly T[]): T[];
}

/** In: a seed. Out: its sequence (mulberry32: small, fast, and good enough for made-up data). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    whole,
    pick: (items) => items[whole(0, items.length - 1)] as (typeof items)[number],
    shuffle: (items) => {
      const rest = [...items];
      const mixed: typeof rest = [];
      while (rest.length > 0) mixed.push(...rest.splice(whole(0, rest.length - 1), 1));
      return mixed;
    },
  };
}
