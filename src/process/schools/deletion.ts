import { setTimeout as pause } from 'node:timers/promises';
import { namespacedStore } from '../../storage/namespace.ts';
import type { RawStore, Store } from '../../storage/store.ts';
import { formerSchools, noLongerFormer, REMOVED_AFTER } from './school-ids.ts';

const PAGE = 500;
/** Passes through the store. It takes more than one while a replica still writes. */
const WALKS = 5;

interface Deletion {
  readonly deleted: number;
  /** How many entries the last pass found; undefined until it is over. */
  readonly left: number | undefined;
}

/**
 * Deletes what is stored below the ids that no school has, once they are due. An id is forgotten when a whole pass has
 * found nothing below it. `of` says how far that is, in this process.
 */
export function createDeletion(raw: RawStore, store: Store, clock: () => number, stopped: () => boolean) {
  const done = new Map<string, Deletion>();

  const walk = async (part: RawStore, found: (entries: number) => void): Promise<void> => {
    let from: string | undefined;
    do {
      const began = performance.now();
      const { entries, next } = await part.scan(undefined, from, PAGE);
      if (entries.length > 0)
        await part.commit(
          entries.map(({ kind, id }) => ({ op: 'delete', kind, id })),
          'vital',
        );
      found(entries.length);
      from = next;
      // Requests get at least half of the time.
      await pause(performance.now() - began);
    } while (from !== undefined && !stopped());
  };
  const deleteBelow = async (id: string): Promise<void> => {
    const part = namespacedStore(raw, id);
    let deleted = 0;
    for (let walks = 0; walks < WALKS && !stopped(); walks += 1) {
      let left = 0;
      await walk(part, (entries) => {
        deleted += entries;
        left += entries;
        done.set(id, { deleted, left: undefined });
      });
      // What has expired is not found by a pass, and is deleted here.
      while ((await raw.sweep(PAGE)) > 0) await pause(1);
      if (left > 0 && walks < WALKS - 1) continue;
      if (left === 0 && !stopped()) await store.commit([noLongerFormer(id)], 'vital');
      done.set(id, { deleted, left });
      return;
    }
  };

  return {
    async due(): Promise<void> {
      for (const { id, since } of await formerSchools(store))
        if (clock() - since >= REMOVED_AFTER && !stopped()) await deleteBelow(id);
    },
    of: (id: string): Deletion => done.get(id) ?? { deleted: 0, left: undefined },
  };
}
