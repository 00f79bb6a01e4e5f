import { type Entry, jsonEntry, type NewEntry } from '../../storage/store.ts';

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

export const DAY = 86_400;
/** Days shown to the member, including today. */
export const TOLD_DAYS = 30;

export const USE = 'GrantUse';
export const LAST_USE = 'GrantLastUse';

export const dayOf = (seconds: number): number => Math.floor(seconds / DAY);

/** The entry of a segment. It expires when it is no longer shown, or with its grant (`grantEnds`, in Unix seconds). */
export function useEntry({ id, grantId, member, day, areas }: Segment, grantEnds: number | undefined): NewEntry {
  const untold = (day + TOLD_DAYS) * DAY;
  const counts = [...areas].map(([area, { count, last }]) => [area, count, last]);
  const value = { id, grantId, day, areas: counts };
  return jsonEntry(USE, id, value, Math.min(untold, grantEnds ?? untold), { grant: grantId, member });
}

/** Records the last use for as long as the grant exists. */
export function lastUseEntry({ grantId, member, areas }: Segment, grantEnds: number | undefined): NewEntry {
  return jsonEntry(LAST_USE, grantId, { grantId, at: lastOf(areas) }, grantEnds, { grant: grantId, member });
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
