/** What a seed chooses. Each choice depends on the seed and its own name alone: leaving out one action changes no other choice. */
export type Choices = ReturnType<typeof choicesOf>;

export function choicesOf(seed: number) {
  /** At least 0 and less than 1. */
  const unit = (name: string): number => hashOf(seed, name) / 0x1_0000_0000;
  return {
    unit,
    chance: (name: string, probability: number): boolean => unit(name) < probability,
    /** A whole number from 0 to `below` - 1. */
    below: (name: string, below: number): number => Math.floor(unit(name) * below),
    pick<T>(name: string, from: readonly T[]): T {
      return from[Math.floor(unit(name) * from.length)] as T;
    },
    /** Milliseconds: mostly a few, sometimes many, so that both close races and long overlaps occur. */
    delay(name: string): number {
      const which = unit(`${name} which`);
      const most = which < 0.78 ? 4 : which < 0.97 ? 40 : 150;
      return unit(name) * most;
    },
  };
}

/** FNV-1a over the name, mixed as in MurmurHash3. */
function hashOf(seed: number, name: string): number {
  let hash = Math.imul(seed ^ 0x81_1c_9d_c5, 0x01_00_01_93) ^ (seed >>> 15);
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01_00_01_93);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85_eb_ca_6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2_b2_ae_35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
