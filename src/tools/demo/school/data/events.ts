import type { Member } from './members.ts';
import { seededRandom } from './random.ts';
import { DAY, HOUR } from './time.ts';

/** A workshop, talk or open day. */
export interface SchoolEvent {
  readonly id: string;
  readonly title: string;
  readonly startsAt: number;
  readonly endsAt: number;
  readonly timeZone: string;
  readonly attendanceMode: 'ONLINE' | 'OFFLINE' | 'MIXED';
  /** null for an online event. */
  readonly venue: Venue | null;
}

interface Venue {
  readonly name: string;
  readonly address: string;
  readonly city: string;
  readonly countryCode: string;
}

/** A member's registration for an event. */
export interface Registration {
  readonly id: string;
  readonly memberId: string;
  readonly event: SchoolEvent;
  readonly status: 'REGISTERED' | 'WAITLISTED' | 'CANCELLED';
  readonly registeredAt: number;
  /** null unless cancelled. */
  readonly cancelledAt: number | null;
  /** null without a check-in so far. */
  readonly checkedInAt: number | null;
  readonly seats: number;
}

const TITLES = [
  'Open evening at the harbour',
  'Ask a skipper: passage planning',
  'Sourdough clinic',
  'Figure drawing, live model',
  'Seed swap and coffee',
  'Photo walk: the fish market at dawn',
  'Hand tool open day',
  'Read your work: spring session',
  'SQL study group',
  'Tide tables workshop',
  'Fermentation tasting',
  'Linocut weekend',
  'Apple day',
  'Portfolio review',
  'Sharpening evening',
  'Poems and soup',
  'Map makers meet-up',
  'Radio procedures refresher',
  'Chocolate for beginners',
  'Sketch crawl: the old town',
  'Pruning demonstration',
  'Spoon carving circle',
  'Statistics question hour',
  'Members summer party',
];
const TOWN = { city: 'Westhaven', countryCode: 'NL' } as const;
const PLACES: readonly Venue[] = [
  { name: 'Net Loft', address: 'Harbour Lane 4', ...TOWN },
  { name: 'The Boathouse', address: 'Quay Street 1', ...TOWN },
  { name: 'Studio 2', address: 'Harbour Lane 11', ...TOWN },
];
const REGISTRATIONS = [14, 6] as const;

/** The events by start time: a third past, the others upcoming. `today` is midnight in Unix seconds. */
export function buildEvents(today: number): readonly SchoolEvent[] {
  const random = seededRandom(43);
  return TITLES.map((title, index) => {
    const startsAt = today + (index - 8) * 11 * DAY + random.whole(9, 19) * HOUR;
    const attendanceMode = random.pick(['ONLINE', 'OFFLINE', 'OFFLINE', 'MIXED'] as const);
    return {
      id: `ev-${index + 1}`,
      title,
      startsAt,
      endsAt: startsAt + random.whole(1, 6) * HOUR,
      timeZone: 'Europe/Amsterdam',
      attendanceMode,
      venue: attendanceMode === 'ONLINE' ? null : random.pick(PLACES),
    };
  });
}

/** 14 registrations of the first member and 6 of the second. */
export function buildRegistrations(
  members: readonly [Member, Member],
  events: readonly SchoolEvent[],
  today: number,
): readonly Registration[] {
  const random = seededRandom(47);
  let number = 0;
  return members.flatMap((member, index) =>
    random
      .shuffle(events)
      .slice(0, REGISTRATIONS[index])
      .map((event): Registration => {
        number += 1;
        const status = random.pick(['REGISTERED', 'REGISTERED', 'REGISTERED', 'WAITLISTED', 'CANCELLED'] as const);
        const registeredAt = Math.min(event.startsAt, today) - random.whole(1, 40) * DAY;
        return {
          id: `r-${number}`,
          memberId: member.id,
          event,
          status,
          registeredAt,
          cancelledAt: status === 'CANCELLED' ? registeredAt + DAY / 2 : null,
          checkedInAt: status === 'REGISTERED' && event.endsAt < today ? event.startsAt - HOUR / 4 : null,
          seats: number % 3 === 0 ? 2 : 1,
        };
      }),
  );
}
