import { LECTURERS } from './data/lecturers.ts';
import { buildNotices, type Row } from './data/notices.ts';
import type { SchoolData } from './data/school-data.ts';
import { DAY } from './data/time.ts';

/** A row and its owner, if any. */
export interface OwnedRow {
  readonly row: Row;
  readonly owner?: string;
}

/** The initial rows of every area, in the form that the REST service returns. */
export function seedAreas(data: SchoolData): Readonly<Record<string, readonly OwnedRow[]>> {
  const shared = Object.entries({ ...buildNotices(data.today), ...catalogueRows(data) });
  return {
    ...Object.fromEntries(shared.map(([name, rows]) => [name, rows.map((row): OwnedRow => ({ row }))])),
    ...personalRows(data),
  };
}

function catalogueRows({ courses, events }: SchoolData): Record<string, readonly Row[]> {
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
    curriculum: courses.map((course, index) => ({
      id: `cu-${index + 1}`,
      course_id: course.id,
      course_slug: course.slug,
      sections: course.sections.map(({ id, title, lectures }) => ({
        id,
        title,
        lectures: lectures.map((lecture) => ({
          id: lecture.id,
          title: lecture.title,
          duration_seconds: lecture.durationSeconds,
        })),
      })),
    })),
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

function personalRows(data: SchoolData): Record<string, readonly OwnedRow[]> {
  const { members, orders, registrations } = data;
  const people = members.map(({ id, email, name, joinedAt }) => ({
    row: { id, email_address: email, display_name: name, joined_at: joinedAt },
    owner: id,
  }));
  return {
    members: people,
    students: people,
    orders: orders.map(({ memberId, ...row }) => ({ row: { ...row }, owner: memberId })),
    event_registrations: registrations.map((registration) => ({
      row: {
        id: registration.id,
        event_id: registration.event.id,
        event_title: registration.event.title,
        status: registration.status.toLowerCase(),
        registered_at: registration.registeredAt,
      },
      owner: registration.memberId,
    })),
    subscriptions: members.map((member, index) => ({
      row: {
        id: `su-${index + 1}`,
        plan_id: `plan-${index + 1}`,
        status: 'active',
        started_at: member.joinedAt,
        renews_at: data.today + (index + 1) * 17 * DAY,
        cancel_at_period_end: 0,
      },
      owner: member.id,
    })),
    analytics: members.map((member) => ({ row: learningSummary(data, member.id), owner: member.id })),
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
