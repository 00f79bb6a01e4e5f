import { buildCatalogue, type Course } from './catalogue.ts';
import { buildEnrolments, buildPositions, type Enrolment, type Position } from './enrolments.ts';
import { buildEvents, buildRegistrations, type Registration, type SchoolEvent } from './events.ts';
import { buildMembers, type Member } from './members.ts';
import { buildOrders, type Order } from './orders.ts';
import { startOfDay, unixSeconds } from './time.ts';

/** Everything the school knows at its start. Only the positions and the cancellations change afterwards. */
export interface SchoolData {
  readonly today: number;
  readonly members: readonly Member[];
  readonly courses: readonly Course[];
  readonly enrolments: readonly Enrolment[];
  readonly orders: readonly (Order & { readonly memberId: string })[];
  readonly events: readonly SchoolEvent[];
  readonly registrations: readonly Registration[];
  /** By member id, then course slug. The progress service writes it, the pages read it. */
  readonly positions: Map<string, Map<string, Position>>;
  /** When members gave up places, in unix seconds, by registration. Written by the events service. */
  readonly cancellations: Map<string, number>;
}

/** In: now in milliseconds. Out: the school's data. Dates hang on the day given; nothing else differs between runs. */
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
