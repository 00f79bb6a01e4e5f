import { randomBytes } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { areaOf } from '../../http/request-record.ts';
import type { AuditEvent } from '../../operations/audit.ts';
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

/** The use of one grant. */
export interface GrantUse {
  /** Unix seconds. Exact for the last 30 days, otherwise exact to the day. */
  readonly lastUsedAt: number;
  /** Counts of the last 30 days (UTC), by area. */
  readonly areas: ReadonlyMap<string, AreaUse>;
  /** The same for each day with use: days since the epoch, in UTC. */
  readonly days: ReadonlyMap<number, ReadonlyMap<string, AreaUse>>;
}

/** The admitted principal. */
interface User {
  readonly sub: string;
  readonly grantId: string;
}

/** Counts what each grant reads and changes, for the member's page of connected apps. */
export type Usage = ReturnType<typeof createUsage>;

const BOUNDS = {
  /** The most grants with unwritten counts. Further grants are not counted until the next flush. */
  grants: 10_000,
  /** The most areas of one grant and day. Further areas are counted together. */
  areas: 64,
};
const APPROVALS: Readonly<Partial<Record<AuditEvent['action'], string>>> = {
  approval_given: areaOf.approval('given'),
  approval_declined: areaOf.approval('declined'),
  approval_used: areaOf.approval('used'),
};
const BATCH = 50;
/** The most entries read for one member, which takes some milliseconds. Real members have far fewer. */
const MOST_READ = 5000;
/** The area for everything beyond the bound on areas. */
const OTHER = 'other';

/** A segment that can still change, and how much of it has been stored. */
interface Counting extends Segment {
  changes: number;
  written: number;
}

/**
 * Counts in memory and writes in batches. Each process writes its own entry per grant and day, replacing it as a whole;
 * readers add the entries up. So no write needs a read first, and replicas cannot overwrite each other.
 */
export function createUsage(store: Store, clock: Clock, bounds = BOUNDS) {
  /**
   * Segments by day and grant: those with unwritten counts, and stored ones to continue. The first of these were used and
   * looked at longest ago.
   */
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
      // The grant has ended and its entries were deleted, so nothing is written for it.
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

  /** Releases the segments of grants that have ended, and of earlier days. Looks at one batch each time. */
  const releaseEnded = async (): Promise<void> => {
    const today = dayOf(unixSeconds(clock));
    const batch = [...written].slice(0, BATCH);
    const grants = await Promise.all(batch.map(([, { grantId }]) => store.get('Grant', grantId)));
    batch.forEach(([key, segment], at) => {
      // It may be counting again by now.
      if (!written.delete(key)) return;
      if (grants[at] !== undefined && segment.day === today) written.set(key, segment);
    });
  };

  /** Counts in memory. Never waits or fails. */
  const count = (user: User, areas: readonly string[]): void => {
    const now = unixSeconds(clock);
    const segment = segmentOf(user, dayOf(now));
    if (segment === undefined) return;
    segment.changes += 1;
    for (const requested of areas) {
      const area = segment.areas.has(requested) || segment.areas.size < bounds.areas - 1 ? requested : OTHER;
      segment.areas.set(area, { count: (segment.areas.get(area)?.count ?? 0) + 1, last: now });
    }
  };

  return {
    /** Counts one request. */
    count,

    /** Counts what became of a call that its member was asked about. */
    audited({ action, member: sub, grantId }: AuditEvent): void {
      const area = APPROVALS[action];
      if (area !== undefined && sub !== undefined && grantId !== undefined) count({ sub, grantId }, [area]);
    },

    /**
     * Writes the counts since the last flush. Throws GatewayError `store_unavailable` and keeps unwritten counts for the
     * next flush. A crash loses only what was counted since the last flush.
     */
    async flush(): Promise<void> {
      const all = [...unwritten.values()];
      for (let at = 0; at < all.length; at += BATCH) {
        await writeBatch(all.slice(at, at + BATCH));
        await turn();
      }
      await releaseEnded();
    },

    /**
     * The use by grant id. Includes this process's unwritten counts; those of other replicas appear after their flush.
     */
    async of(member: string): Promise<ReadonlyMap<string, GrantUse>> {
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

      type Areas = Map<string, AreaUse>;
      const uses = new Map<string, { lastUsedAt: number; areas: Areas; days: Map<number, Areas> }>();
      const useOf = (grantId: string) => {
        const use = uses.get(grantId) ?? { lastUsedAt: 0, areas: new Map(), days: new Map() };
        uses.set(grantId, use);
        return use;
      };
      for (const { grantId, at } of last.map(readLastUse)) useOf(grantId).lastUsedAt = at;
      for (const { grantId, day, areas } of segments) {
        const use = useOf(grantId);
        const ofDay: Areas = use.days.get(day) ?? new Map();
        addUp(ofDay, areas);
        use.days.set(day, ofDay);
        use.lastUsedAt = Math.max(use.lastUsedAt, lastOf(areas));
        addUp(use.areas, areas);
      }
      return uses;
    },
  };
}

/** Adds `areas` to `sum`. */
export function addUp(sum: Map<string, AreaUse>, areas: ReadonlyMap<string, AreaUse>): void {
  for (const [area, { count, last }] of areas) {
    const before = sum.get(area);
    sum.set(area, { count: (before?.count ?? 0) + count, last: Math.max(before?.last ?? 0, last) });
  }
}

function keyOf(day: number, grantId: string): string {
  return `${day}:${grantId}`;
}
