import { buildCatalogue } from './catalogue.ts';
import { buildEnrolments, buildPositions } from './enrolments.ts';
import { buildEvents, buildRegistrations } from './events.ts';
import { buildMembers } from './members.ts';
import { buildOrders } from './orders.ts';
import { DAY } from './time.ts';

/** The school's data. Only positions and cancellations change after its start. */
export type SchoolData = ReturnType<typeof buildSchoolData>;

/** Builds the data. Dates are relative to the day of `now`; everything else is the same in every run. */
export function buildSchoolData(now: number) {
  const today = Math.floor(now / DAY) * DAY;
  const members = buildMembers(today);
  const courses = buildCatalogue(today);
  const enrolments = buildEnrolments(members, courses, today);
  const events = buildEvents(today);
  return {
    today,
    members,
    courses,
    enrolments,
    orders: buildOrders(enrolments),
    events,
    registrations: buildRegistrations(members, events, today),
    /** By member id, then course slug. Written by the progress service, read by the pages. */
    positions: buildPositions(enrolments, now),
    /** Times of cancellation, by registration id. Written by the events service. */
    cancellations: new Map<string, number>(),
  };
}
