import { refused } from './connection.ts';
import type { Registration, SchoolEvent } from './data/events.ts';
import type { SchoolData } from './data/school-data.ts';

export type EventTime = 'ANY' | 'UPCOMING' | 'PAST';

/** A member's registrations as the events service returns them. */
export function registrationsOf(data: SchoolData, memberId: string, when: EventTime, now: number) {
  return data.registrations
    .filter((registration) => registration.memberId === memberId)
    .filter(({ event }) => when === 'ANY' || event.endsAt < now === (when === 'PAST'))
    .map((registration) => shown(registration, data));
}

/**
 * Cancels a registration. Repeating it has no effect. Throws a GraphQLError with code NOT_FOUND unless it is a
 * registration of this member, and BAD_USER_INPUT for a past event.
 */
export function cancelRegistration(data: SchoolData, memberId: string | undefined, id: string, now: number) {
  const own = data.registrations.find((each) => each.id === id && each.memberId === memberId);
  if (own === undefined) throw refused('There is no such registration.', 'NOT_FOUND');
  if (cancelledAt(own, data) === null) {
    if (own.event.endsAt < now) throw refused('The event is over.');
    data.cancellations.set(id, now);
  }
  return { registration: shown(own, data) };
}

/** An event as shown to everyone. */
export function asEvent(event: SchoolEvent) {
  const slug = event.title.toLowerCase().replace(/[^a-z0-9]+/g, '-');
  return { ...event, slug, startsAt: instant(event.startsAt), endsAt: instant(event.endsAt), joinUrl: null };
}

function shown(registration: Registration, data: SchoolData) {
  const { registeredAt, checkedInAt, event } = registration;
  const cancelled = cancelledAt(registration, data);
  const status = cancelled === null ? registration.status : 'CANCELLED';
  const online = status === 'REGISTERED' && event.attendanceMode !== 'OFFLINE';
  return {
    ...registration,
    status,
    registeredAt: instant(registeredAt),
    cancelledAt: instant(cancelled),
    checkedInAt: instant(checkedInAt),
    event: { ...asEvent(event), joinUrl: online ? `https://meet.harbour-lane.example/${event.id}` : null },
  };
}

function cancelledAt({ id, cancelledAt: before }: Registration, { cancellations }: SchoolData): number | null {
  return before ?? cancellations.get(id) ?? null;
}

function instant(seconds: number | null): string | null {
  return seconds === null ? null : new Date(seconds * 1000).toISOString();
}
