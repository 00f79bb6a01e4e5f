import type { Course } from './catalogue.ts';
import type { Member } from './members.ts';
import { type Random, seededRandom } from './random.ts';
import { DAY, HOUR } from './time.ts';

/** A member's access to one course. */
export type Enrolment = ReturnType<typeof enrol>;

/** Where a member stopped watching a course. */
export interface Position {
  readonly course_slug: string;
  readonly lecture_id: number;
  readonly position_ms: number;
  readonly updated_at: number;
}

const COUNTS = [37, 24];

/** 37 enrolments of the first member and 24 of the second, with ascending ids. */
export function buildEnrolments(members: readonly Member[], courses: readonly Course[], today: number): Enrolment[] {
  const random = seededRandom(19);
  // The first member has the first course, which the documentation and the tests name.
  const chosen = [[...courses.slice(0, 1), ...random.shuffle(courses.slice(1))], random.shuffle(courses)];
  let number = 0;
  return members.flatMap((member, index) =>
    (chosen[index] ?? []).slice(0, COUNTS[index]).map((course) => {
      number += 1;
      return enrol(`e-${number}`, member, course, today, random);
    }),
  );
}

function enrol(id: string, member: Member, course: Course, today: number, random: Random) {
  const daysAgo = random.whole(3, Math.floor((today - member.joinedAt) / DAY));
  const enrolledAt = today - daysAgo * DAY + random.whole(7, 22) * HOUR;
  const lifetime = random.whole(1, 5) <= 2;
  // A year and a half of access from enrolment, or 0 for ever: most are still active, some have expired.
  return { id, memberId: member.id, course, enrolledAt, expiresAt: lifetime ? 0 : enrolledAt + 548 * DAY };
}

/** Positions by member id, then course slug. A third of the courses is not started. */
export function buildPositions(enrolments: readonly Enrolment[], now: number): Map<string, Map<string, Position>> {
  const random = seededRandom(23);
  const positions = new Map<string, Map<string, Position>>();
  enrolments.forEach(({ memberId, course, enrolledAt }, index) => {
    if (index % 3 === 2) return;
    const lecture = random.pick(course.lectures);
    const own = positions.get(memberId) ?? new Map<string, Position>();
    own.set(course.slug, {
      course_slug: course.slug,
      lecture_id: lecture.id,
      position_ms: random.whole(15, lecture.duration_seconds) * 1000,
      updated_at: random.whole(enrolledAt, Math.max(now, enrolledAt)),
    });
    positions.set(memberId, own);
  });
  return positions;
}
