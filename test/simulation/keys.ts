import type { Promises } from './promises.ts';
import type { World } from './world.ts';

/** Compares the keys that gates have signed with and those that gates publish. */
export function createKeyWatch(world: World, promises: Promises) {
  /** The life that has signed with a key, by its id. */
  const signed = new Map<string, string>();
  const note = (): void => {
    for (const { gate, life } of world.places)
      for (const kid of gate?.keyring.signers() ?? []) if (!signed.has(kid)) signed.set(kid, life.name);
  };
  note();
  return {
    /**
     * A key is published before it signs and for a day after. So every gate knows each of them, also a gate that has not
     * heard of a rotation yet. Of two rotations at once it need not know the second: that is why an operator who repeats one
     * is warned. `rotations`: those that were committed, also for an operator who had no answer.
     */
    compare(rotations: number): void {
      note();
      if (rotations > 1 || !promises.isSafe()) return;
      for (const { gate, life } of world.places) {
        if (gate === undefined) continue;
        const published = new Set(gate.keyring.list().map(({ kid }) => kid));
        for (const [kid, by] of signed) if (!published.has(kid)) promises.unverifiable(by, life.name);
      }
    },
  };
}
