/** A deterministic source of numbers, so that the school is the same at every start. */
export interface Random {
  /** A whole number from `low` to `high`, inclusive. */
  whole(low: number, high: number): number;
  /** An item of a non-empty list. */
  pick<T>(items: readonly T[]): T;
  /** A shuffled copy of a list. */
  shuffle<T>(items: readonly T[]): T[];
}

/** mulberry32: small, fast, and good enough for sample data. */
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
