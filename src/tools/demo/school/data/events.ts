import type { Member } from './members.ts';
import { seededRandom } from './random.ts';
import { DAY, HOUR } from './time.ts';

/** A workshop, talk or open day. */
export type SchoolEvent = ReturnType<typeof buildEvents>[number];
/** A member's registration for an event. */
export type Registration = ReturnType<typeof buildRegistrations>[number];

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
const PLACES = [
  { name: 'Net Loft', address: 'Harbour Lane 4', ...TOWN },
  { name: 'The Boathouse', address: 'Quay Street 1', ...TOWN },
  { name: 'Studio 2', address: 'Harbour Lane 11', ...TOWN },
];
const REGISTRATIONS = [14, 6];
const MODES = ['ONLINE', 'OFFLINE', 'OFFLINE', 'MIXED'] as const;
const STATUSES = ['REGISTERED', 'REGISTERED', 'REGISTERED', 'WAITLISTED', 'CANCELLED'] as const;

/** The events by start time: a third past, the others upcoming. `today` is midnight. */
export function buildEvents(today: number) {
  const random = seededRandom(43);
  return TITLES.map((title, index) => {
    const startsAt = today + (index - 8) * 11 * DAY + random.whole(9, 19) * HOUR;
    const attendanceMode = random.pick(MODES);
    const endsAt = startsAt + random.whole(1, 6) * HOUR;
    const venue = attendanceMode === 'ONLINE' ? null : random.pick(PLACES);
    return { id: `ev-${index + 1}`, title, startsAt, endsAt, timeZone: 'Europe/Amsterdam', attendanceMode, venue };
  });
}

/** 14 registrations of the first member and 6 of the second. */
export function buildRegistrations(members: readonly Member[], events: readonly SchoolEvent[], today: number) {
  const random = seededRandom(47);
  let number = 0;
  return members.flatMap((member, index) =>
    random
      .shuffle(events)
      .slice(0, REGISTRATIONS[index])
      .map((event) => {
        number += 1;
        const status = random.pick(STATUSES);
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
