import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { type Clock, type Mutation, type Store, unixSeconds } from '../../storage/store.ts';
import {
  type AreaUse,
  dayOf,
  LAST_USE,
  lastOf,
  lastUseEntry,
  readLastUse,
  readUse,
  type Segment,
  TOLD_DAYS,
  USE,
  useEntry,
} from './use-entry.ts';

/** What an app did with one grant. */
export interface GrantUse {
  /** Unix seconds. Exact within the last days; before that, within the day. */
  readonly lastUsedAt: number;
  /** Of the last 30 days (by UTC), by area. */
  readonly areas: ReadonlyMap<string, AreaUse>;
}

/** Who used what: as the gate admitted them. */
interface User {
  readonly sub: string;
  readonly grantId: string;
}

/** How often each grant read or changed what, for the member who gave it. */
export interface Usage {
  /** Counts one request, in memory: it waits for nothing and never fails. */
  readonly count: (user: User, areas: readonly string[]) => void;
  /**
   * Writes what was counted since. Throws GatewayError `store_unavailable`; what is not written yet is then kept for the
   * next time. A crash loses what was counted since the last flush, and nothing else.
   */
  readonly flush: () => Promise<void>;
  /** Out: by grant. This process's own counts are in it at once, those of other replicas once they have flushed. */
  readonly of: (member: string) => Promise<ReadonlyMap<string, GrantUse>>;
}

interface UsageBounds {
  /** Grants with counts that are not written yet; more are not counted until they are. */
  readonly grants: number;
  /** Areas of one grant on one day; more are counted as one. */
  readonly areas: number;
}

const BOUNDS: UsageBounds = { grants: 10_000, areas: 64 };
const BATCH = 50;
/** Entries that are read for one member. With them a page takes some milliseconds; nobody but a test has so many. */
const MOST_READ = 5000;
/** What is counted beyond the bound on areas. */
const OTHER = 'other';

/** A segment that may be counted in still, and how much of it is in the store. */
interface Counting extends Segment {
  changes: number;
  written: number;
}

/**
 * Counts in memory and writes in batches. Each process writes entries of its own, one for a grant and a day, whole each
 * time; who reads adds them up. So there is nothing to read before a write, and nothing that two replicas could race for.
 */
export function createUsage(store: Store, clock: Clock, bounds = BOUNDS): Usage {
  /** By day and grant. Unwritten ones; and written ones, the longest unused first, which would be counted on in. */
  const unwritten = new Map<string, Counting>();
  const written = new Map<string, Counting>();

  const segmentOf = ({ sub, grantId }: User, day: number): Counting | undefined => {
    const key = keyOf(day, grantId);
    const open = unwritten.get(key);
    if (open !== undefined) return open;
    if (unwritten.size >= bounds.grants) return undefined;
    const id = () => randomBytes(15).toString('base64url');
    const found = written.get(key) ?? { id: id(), grantId, member: sub, day, areas: new Map(), changes: 0, written: 0 };
    written.delete(key);
    unwritten.set(key, found);
    return found;
  };

  const writeBatch = async (batch: readonly Counting[]): Promise<void> => {
    const grants = await Promise.all(batch.map(({ grantId }) => store.get('Grant', grantId)));
    const changes = batch.map((segment) => segment.changes);
    const mutations = batch.flatMap((segment, at): Mutation[] => {
      const grant = grants[at];
      // Ended meanwhile, and all that was written of it is gone: nothing is written of it again.
      if (grant === undefined) return [];
      const entries = [useEntry(segment, grant.expiresAt)];
      if (segment.written === 0) entries.push(lastUseEntry(segment, grant.expiresAt));
      return entries.map((entry) => ({ op: 'put', entry }));
    });
    if (mutations.length > 0) await store.commit(mutations);
    batch.forEach((segment, at) => {
      segment.written = changes[at] ?? 0;
      if (segment.changes !== segment.written) return;
      const key = keyOf(segment.day, segment.grantId);
      unwritten.delete(key);
      if (grants[at] !== undefined) written.set(key, segment);
    });
    for (const key of written.keys()) {
      if (written.size <= bounds.grants) break;
      written.delete(key);
    }
  };

  return {
    count(user, areas) {
      const now = unixSeconds(clock);
      const segment = segmentOf(user, dayOf(now));
      if (segment === undefined) return;
      segment.changes += 1;
      for (const asked of areas) {
        const area = segment.areas.has(asked) || segment.areas.size < bounds.areas - 1 ? asked : OTHER;
        segment.areas.set(area, { count: (segment.areas.get(area)?.count ?? 0) + 1, last: now });
      }
    },

    async flush() {
      const all = [...unwritten.values()];
      for (let at = 0; at < all.length; at += BATCH) {
        await writeBatch(all.slice(at, at + BATCH));
        await turn();
      }
    },

    async of(member) {
      const [stored, last] = await Promise.all([
        store.findBy(USE, 'member', member, MOST_READ),
        store.findBy(LAST_USE, 'member', member, MOST_READ),
      ]);
      const own = [...unwritten.values(), ...written.values()].filter((segment) => segment.member === member);
      const held = new Set(own.map(({ id }) => id));
      const since = dayOf(unixSeconds(clock)) - TOLD_DAYS;
      const segments = [...own, ...stored.map(readUse).filter(({ id }) => !held.has(id))].filter(
        ({ day }) => day > since,
      );

      const uses = new Map<string, { lastUsedAt: number; areas: Map<string, AreaUse> }>();
      const useOf = (grantId: string) => {
        const use = uses.get(grantId) ?? { lastUsedAt: 0, areas: new Map<string, AreaUse>() };
        uses.set(grantId, use);
        return use;
      };
      for (const { grantId, at } of last.map(readLastUse)) useOf(grantId).lastUsedAt = at;
      for (const { grantId, areas } of segments) {
        const use = useOf(grantId);
        use.lastUsedAt = Math.max(use.lastUsedAt, lastOf(areas));
        addUp(use.areas, areas);
      }
      return uses;
    },
  };
}

/** Adds the second to the first. */
export function addUp(sum: Map<string, AreaUse>, areas: ReadonlyMap<string, AreaUse>): void {
  for (const [area, { count, last }] of areas) {
    const before = sum.get(area);
    sum.set(area, { count: (before?.count ?? 0) + count, last: Math.max(before?.last ?? 0, last) });
  }
}

function keyOf(day: number, grantId: string): string {
  return `${day}:${grantId}`;
}
