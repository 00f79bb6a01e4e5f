import areas from './areas.json' with { type: 'json' };
import courses from './courses.json' with { type: 'json' };
import enrolments from './enrolments.json' with { type: 'json' };
import events from './events.json' with { type: 'json' };
import lecturers from './lecturers.json' with { type: 'json' };
import lectures from './lectures.json' with { type: 'json' };
import members from './members.json' with { type: 'json' };
import orders from './orders.json' with { type: 'json' };
import positions from './positions.json' with { type: 'json' };
import registrations from './registrations.json' with { type: 'json' };

/** The school's data. Only positions and registrations change after its start. */
export type SchoolData = ReturnType<typeof buildSchoolData>;
export type Person = SchoolData['members'][number];
export type Course = SchoolData['courses'][number];
export type Enrolment = SchoolData['enrolments'][number];
export type Registration = SchoolData['registrations'][number];

const FILES = { areas, courses, enrolments, events, lecturers, members, orders, positions, registrations };
const HOUR = 3600;

/** A fresh copy of the data, with times in Unix seconds relative to the day of `now`. */
export function buildSchoolData(now: number) {
  const data = dated(FILES, now - (now % (24 * HOUR)));
  const withLectures = data.courses.map((course) => ({
    ...course,
    lecturer: data.lecturers.find(({ id }) => id === course.lecturer_id)?.name ?? '',
    sections: sectionsOf(course),
  }));
  return {
    ...data,
    courses: withLectures,
    enrolments: data.enrolments.flatMap(({ course_slug, ...enrolment }) => {
      const course = withLectures.find(({ slug }) => slug === course_slug);
      return course === undefined ? [] : { ...enrolment, course };
    }),
    /** Where members stopped watching, by `positionKey`. Written by the progress service, read by the pages. */
    positions: new Map(
      data.positions.map(({ member_id, ...position }) => [positionKey(member_id, position.course_slug), position]),
    ),
  };
}

export function positionKey(memberId: string, courseSlug: string): string {
  return `${memberId} ${courseSlug}`;
}

/** In the files, times are in hours from today's midnight, and 0 means never. */
function dated<T>(data: T, midnight: number): T {
  return JSON.parse(JSON.stringify(data), (key, value: unknown) =>
    /(?:_a|A)t$/.test(key) && typeof value === 'number' && value !== 0 ? midnight + value * HOUR : value,
  );
}

/** All courses have the same sections and titles of lectures; short ones use only the first ones. */
function sectionsOf({ id, first_lecture_id, lecture_seconds }: (typeof courses)[number]) {
  const all = lecture_seconds.map((duration_seconds, index) => {
    return { id: first_lecture_id + index, title: lectures.titles[index] ?? '', duration_seconds };
  });
  const perSection = Math.ceil(all.length / lectures.sections.length);
  return lectures.sections
    .map((title, at) => ({
      id: `${id}-s${at + 1}`,
      title,
      lectures: all.slice(at * perSection, (at + 1) * perSection),
    }))
    .filter((section) => section.lectures.length > 0);
}
