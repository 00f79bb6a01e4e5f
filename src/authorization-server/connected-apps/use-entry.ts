import type { Entry, NewEntry } from '../../storage/store.ts';

/** What one process counted of one grant on one day. Nobody else writes it, so no replica can lose another's counts. */
export interface Segment {
  /** Random: it names the entry. */
  readonly id: string;
  readonly grantId: string;
  readonly member: string;
  /** Days since the epoch, in UTC. */
  readonly day: number;
  readonly areas: Map<string, AreaUse>;
}

/** How often something was read or changed, and when last, in Unix seconds. */
export interface AreaUse {
  readonly count: number;
  readonly last: number;
}

const DAY = 86_400;
/** Days, today among them, that are told of. */
export const TOLD_DAYS = 30;

export const USE = 'GrantUse';
export const LAST_USE = 'GrantLastUse';

export const dayOf = (seconds: number): number => Math.floor(seconds / DAY);

/** In: a segment, and when its grant ends (Unix seconds; undefined: never). It goes when nobody is told of it any more. */
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

/** The day a grant was last used on stays known as long as the grant. */
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

/** What `useEntry` wrote. */
export function readUse({ payload }: Entry): Omit<Segment, 'member'> {
  const { id, grantId, day, areas } = JSON.parse(payload) as Omit<Segment, 'areas' | 'member'> & {
    areas: readonly (readonly [string, number, number])[];
  };
  return { id, grantId, day, areas: new Map(areas.map(([area, count, last]) => [area, { count, last }])) };
}

/** What `lastUseEntry` wrote. */
export function readLastUse({ payload }: Entry): { readonly grantId: string; readonly at: number } {
  return JSON.parse(payload) as { grantId: string; at: number };
}
