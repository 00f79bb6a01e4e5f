import type { Entry, NewEntry } from '../../storage/store.ts';

/** The counts of one process for one grant and day. Only that process writes it, so replicas never overwrite counts. */
export interface Segment {
  /** The random id of the entry. */
  readonly id: string;
  readonly grantId: string;
  readonly member: string;
  /** Days since the epoch, in UTC. */
  readonly day: number;
  readonly areas: Map<string, AreaUse>;
}

/** How often an area was used, and when last, in Unix seconds. */
export interface AreaUse {
  readonly count: number;
  readonly last: number;
}

const DAY = 86_400;
/** Days shown to the member, including today. */
export const TOLD_DAYS = 30;

export const USE = 'GrantUse';
export const LAST_USE = 'GrantLastUse';

export const dayOf = (seconds: number): number => Math.floor(seconds / DAY);

/** The entry of a segment. It expires when it is no longer shown, or with its grant (`grantEnds`, in Unix seconds). */
export function useEntry({ id, grantId, member, day, areas }: Segment, grantEnds: number | undefined): NewEntry {
  const untold = (day + TOLD_DAYS) * DAY;
  return {
    kind: USE,
    id,
    payload: JSON.stringify({
      id,
      grantId,
      day,
      areas: [...areas].map(([area, { count, last }]) => [area, count, last]),
    }),
    expiresAt: Math.min(untold, grantEnds ?? untold),
    references: { grant: grantId, member },
  };
}

/** Records the last use for as long as the grant exists. */
export function lastUseEntry({ grantId, member, areas }: Segment, grantEnds: number | undefined): NewEntry {
  return {
    kind: LAST_USE,
    id: grantId,
    payload: JSON.stringify({ grantId, at: lastOf(areas) }),
    expiresAt: grantEnds,
    references: { grant: grantId, member },
  };
}

export function lastOf(areas: ReadonlyMap<string, AreaUse>): number {
  return Math.max(0, ...[...areas.values()].map(({ last }) => last));
}

/** The inverse of `useEntry`. */
export function readUse({ payload }: Entry): Omit<Segment, 'member'> {
  const { id, grantId, day, areas } = JSON.parse(payload) as Omit<Segment, 'areas' | 'member'> & {
    areas: readonly (readonly [string, number, number])[];
  };
  return { id, grantId, day, areas: new Map(areas.map(([area, count, last]) => [area, { count, last }])) };
}

/** The inverse of `lastUseEntry`. */
export function readLastUse({ payload }: Entry): { readonly grantId: string; readonly at: number } {
  return JSON.parse(payload) as { grantId: string; at: number };
}
