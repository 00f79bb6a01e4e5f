import type { Course } from './catalogue.ts';
import type { Member } from './members.ts';
import { type Random, seededRandom } from './random.ts';
import { DAY, HOUR } from './time.ts';

/** A member's access to one course. */
export interface Enrolment {
  readonly id: string;
  readonly memberId: string;
  readonly course: Course;
  readonly enrolledAt: number;
  /** 0 for lifetime access. */
  readonly expiresAt: number;
}

/** Where a member stopped watching a course. */
export interface Position {
  readonly course_slug: string;
  readonly lecture_id: number;
  readonly position_ms: number;
  readonly updated_at: number;
}

const COUNTS = [37, 24] as const;

/** 37 enrolments of the first member and 24 of the second, with ascending ids. */
export function buildEnrolments(
  members: readonly [Member, Member],
  courses: readonly Course[],
  today: number,
): Enrolment[] {
  const random = seededRandom(19);
  const [first, ...others] = courses;
  if (first === undefined) return [];
  const chosen = [[first, ...random.shuffle(others)].slice(0, COUNTS[0]), random.shuffle(courses).slice(0, COUNTS[1])];
  let number = 0;
  return members.flatMap((member, index) =>
    (chosen[index] ?? []).map((course) => {
      number += 1;
      return enrol(`e-${number}`, member, course, today, random);
    }),
  );
}

function enrol(id: string, member: Member, course: Course, today: number, random: Random): Enrolment {
  const daysAgo = random.whole(3, Math.floor((today - member.joinedAt) / DAY));
  const enrolledAt = today - daysAgo * DAY + random.whole(7, 22) * HOUR;
  const lifetime = random.whole(1, 5) <= 2;
  // A year and a half of access from enrolment: most are still active, some have expired.
  return { id, memberId: member.id, course, enrolledAt, expiresAt: lifetime ? 0 : enrolledAt + 548 * DAY };
}

/** Positions by member id, then course slug. A third of the courses is not started. */
export function buildPositions(enrolments: readonly Enrolment[], now: number): Map<string, Map<string, Position>> {
  const random = seededRandom(23);
  const positions = new Map<string, Map<string, Position>>();
  enrolments.forEach((enrolment, index) => {
    if (index % 3 === 2) return;
    const lecture = random.pick(enrolment.course.lectures);
    const own = positions.get(enrolment.memberId) ?? new Map<string, Position>();
    own.set(enrolment.course.slug, {
      course_slug: enrolment.course.slug,
      lecture_id: lecture.id,
      position_ms: random.whole(15, lecture.durationSeconds) * 1000,
      updated_at: random.whole(enrolment.enrolledAt, Math.max(now, enrolment.enrolledAt)),
    });
    positions.set(enrolment.memberId, own);
  });
  return positions;
}
