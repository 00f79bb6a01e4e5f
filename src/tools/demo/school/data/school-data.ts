import { buildCatalogue, type Course } from './catalogue.ts';
import { buildEnrolments, buildPositions, type Enrolment, type Position } from './enrolments.ts';
import { buildEvents, buildRegistrations, type Registration, type SchoolEvent } from './events.ts';
import { buildMembers, type Member } from './members.ts';
import { buildOrders, type Order } from './orders.ts';
import { startOfDay, unixSeconds } from './time.ts';

/** The school's data at its start. Only positions and cancellations change afterwards. */
export interface SchoolData {
  readonly today: number;
  readonly members: readonly Member[];
  readonly courses: readonly Course[];
  readonly enrolments: readonly Enrolment[];
  readonly orders: readonly (Order & { readonly memberId: string })[];
  readonly events: readonly SchoolEvent[];
  readonly registrations: readonly Registration[];
  /** By member id, then course slug. Written by the progress service, read by the pages. */
  readonly positions: Map<string, Map<string, Position>>;
  /** Times of cancellation in Unix seconds, by registration id. Written by the events service. */
  readonly cancellations: Map<string, number>;
}

/** Builds the data. Dates are relative to the given day (in milliseconds); everything else is the same in every run. */
export function buildSchoolData(now: number): SchoolData {
  const today = startOfDay(now);
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
    positions: buildPositions(enrolments, unixSeconds(now)),
    cancellations: new Map(),
  };
}
