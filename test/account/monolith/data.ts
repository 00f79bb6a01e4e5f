import { createHash } from 'node:crypto';

/**
 * The data that the services and the monolith share. A member's id is `m-<number>-<failing>`: the number selects the
 * member's data, and about one in `failing` fields fails (0: none), the same ones on both sides.
 */
export interface Member {
  readonly id: string;
  readonly number: number;
  readonly failing: number;
}

export function memberOf(id: string): Member {
  const [, number, failing] = id.split('-').map(Number);
  return { id, number: number ?? 0, failing: failing ?? 0 };
}

/** Whether a field of an object fails for this member. */
export function fails({ id, failing }: Member, what: string): boolean {
  if (failing === 0) return false;
  return createHash('sha256').update(`${id} ${what}`).digest().readUInt32BE() % failing === 0;
}

interface Talk {
  readonly kind: 'Talk';
  readonly id: string;
  readonly title: string;
  readonly startsAt: string;
  readonly speaker: string;
  readonly guests: readonly string[];
}

interface Outing {
  readonly kind: 'Outing';
  readonly id: string;
  readonly title: string;
  readonly startsAt: string;
  readonly seats: number;
}

export type Happening = Talk | Outing;

export interface Registration {
  readonly id: string;
  readonly status: 'CONFIRMED' | 'CANCELED' | 'WAITLISTED' | 'UNKNOWN';
  readonly note: string | null;
  readonly happening: Happening;
}

export interface Course {
  readonly slug: string;
  readonly hours: number;
  /** The data from the other service; null if it has none. */
  readonly progress: { readonly lecture: string; readonly seconds: number } | null;
}

const STATUSES = ['CONFIRMED', 'CANCELED', 'WAITLISTED', 'UNKNOWN'] as const;

function happening(number: number): Happening {
  const common = {
    id: `h-${number}`,
    title: `Happening ${number}`,
    startsAt: `2026-1${number % 3}-0${1 + (number % 9)}T18:00:00Z`,
  };
  if (number % 3 === 0) return { kind: 'Outing', ...common, seats: number };
  return {
    kind: 'Talk',
    ...common,
    speaker: `s-${number}`,
    guests: Array.from({ length: number % 4 }, (_, at) => `g-${number}-${at}`),
  };
}

export function registrationsOf({ number }: Member): readonly Registration[] {
  return Array.from({ length: (number * 5) % 13 }, (_, at) => ({
    id: `r-${number}-${at}`,
    status: STATUSES[(number + at) % 4] ?? 'UNKNOWN',
    note: at % 2 === 0 ? null : `note ${at}`,
    happening: happening(number + at),
  }));
}

export function coursesOf({ number }: Member): readonly Course[] {
  return Array.from({ length: (number * 7) % 23 }, (_, at) => ({
    slug: `c-${number}-${at}`,
    hours: at + 1,
    progress: at % 2 === 0 ? { lecture: `l-${at}`, seconds: at * 10 } : null,
  }));
}
