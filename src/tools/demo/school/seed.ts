import { LECTURERS } from './data/lecturers.ts';
import { buildNotices } from './data/notices.ts';
import type { SchoolData } from './data/school-data.ts';
import { DAY } from './data/time.ts';

/** A row of the REST service. */
export type Row = { readonly id: string; readonly [field: string]: unknown };

/** A row and its owner, if any. */
export interface OwnedRow {
  readonly row: Row;
  readonly owner?: string;
}

/** The initial rows of every area, in the form that the REST service returns. */
export function seedAreas(data: SchoolData): Readonly<Record<string, readonly OwnedRow[]>> {
  const shared = Object.entries<readonly Row[]>({ ...buildNotices(data.today), ...catalogueRows(data) });
  return {
    ...Object.fromEntries(shared.map(([name, rows]) => [name, rows.map((row) => ({ row }))])),
    ...ownRows(data),
  };
}

function catalogueRows({ courses, events }: SchoolData) {
  return {
    courses: courses.map((course) => ({
      id: course.id,
      slug: course.slug,
      title: course.title,
      summary: course.summary,
      lecturer_id: course.lecturer.id,
      lectures_count: course.lectures.length,
      price_cents: course.priceCents,
      currency: 'EUR',
      published_at: course.publishedAt,
    })),
    curriculum: courses.map(({ id, slug, sections }, index) => {
      return { id: `cu-${index + 1}`, course_id: id, course_slug: slug, sections };
    }),
    lecturers: LECTURERS.map(({ id, slug, name, bio }) => ({ id, slug, name, bio })),
    events: events.map((event) => ({
      id: event.id,
      title: event.title,
      starts_at: event.startsAt,
      ends_at: event.endsAt,
      time_zone: event.timeZone,
      attendance_mode: event.attendanceMode.toLowerCase(),
      location: event.venue === null ? null : `${event.venue.name}, ${event.venue.address}`,
    })),
  };
}

function ownRows(data: SchoolData): Record<string, readonly OwnedRow[]> {
  const { members, orders, registrations, today } = data;
  const people = members.map(({ id, email, name, joinedAt }) => ({
    row: { id, email_address: email, display_name: name, joined_at: joinedAt },
    owner: id,
  }));
  return {
    members: people,
    students: people,
    orders,
    event_registrations: registrations.map(({ id, memberId, event, status, registeredAt }) => ({
      row: {
        id,
        event_id: event.id,
        event_title: event.title,
        status: status.toLowerCase(),
        registered_at: registeredAt,
      },
      owner: memberId,
    })),
    subscriptions: members.map(({ id, joinedAt }, index) => ({
      row: {
        id: `su-${index + 1}`,
        plan_id: `plan-${index + 1}`,
        status: 'active',
        started_at: joinedAt,
        renews_at: today + (index + 1) * 17 * DAY,
        cancel_at_period_end: 0,
      },
      owner: id,
    })),
    analytics: members.map(({ id }) => ({ row: learningSummary(data, id), owner: id })),
  };
}

function learningSummary({ enrolments, positions, today }: SchoolData, memberId: string): Row {
  const own = enrolments.filter((enrolment) => enrolment.memberId === memberId);
  const watched = [...(positions.get(memberId)?.values() ?? [])];
  return {
    id: `an-${memberId}`,
    courses_enrolled: own.length,
    courses_started: watched.length,
    courses_expired: own.filter(({ expiresAt }) => expiresAt !== 0 && expiresAt < today).length,
    last_watched_at: Math.max(0, ...watched.map((position) => position.updated_at)),
    computed_at: today,
  };
}
