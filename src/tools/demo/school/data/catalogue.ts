import { COURSE_TEXTS, type Subject } from './courses.ts';
import { LECTURERS, slugOf } from './lecturers.ts';
import { LECTURE_TITLES, SECTION_TITLES } from './lectures.ts';
import { seededRandom } from './random.ts';
import { DAY } from './time.ts';

/** One lecture of a course. */
export interface Lecture {
  readonly id: number;
  readonly title: string;
  readonly durationSeconds: number;
}

/** A chapter of a course. */
interface Section {
  readonly id: string;
  readonly title: string;
  readonly lectures: readonly Lecture[];
}

/** A course in the school's own representation. */
export interface Course {
  readonly id: string;
  readonly slug: string;
  readonly title: string;
  readonly summary: string;
  readonly subject: Subject;
  readonly lecturer: { readonly id: string; readonly name: string };
  readonly sections: readonly Section[];
  readonly lectures: readonly Lecture[];
  readonly priceCents: number;
  readonly publishedAt: number;
}

const FIRST_LECTURE_ID = 4701;
const PRICES = [2900, 3900, 4900, 5900, 7900, 12900];

/** The sixty courses of the school, always the same. `today` is midnight in Unix seconds. */
export function buildCatalogue(today: number): readonly Course[] {
  const random = seededRandom(7);
  let lectureId = FIRST_LECTURE_ID;
  return COURSE_TEXTS.map(([subject, title, summary], index) => {
    const lectures = LECTURE_TITLES[subject].slice(0, random.whole(8, 12)).map(
      (lectureTitle): Lecture => ({
        id: lectureId++,
        title: lectureTitle,
        durationSeconds: random.whole(5 * 60, 24 * 60),
      }),
    );
    const lecturer = random.pick(LECTURERS.filter((person) => person.subject === subject));
    return {
      id: `c-${index + 1}`,
      slug: slugOf(title),
      title,
      summary,
      subject,
      lecturer: { id: lecturer.id, name: lecturer.name },
      sections: inSections(`c-${index + 1}`, lectures),
      lectures,
      priceCents: random.pick(PRICES),
      publishedAt: today - random.whole(800, 1600) * DAY,
    };
  });
}

function inSections(courseId: string, lectures: readonly Lecture[]): readonly Section[] {
  const size = Math.ceil(lectures.length / SECTION_TITLES.length);
  return SECTION_TITLES.map((title, index) => ({
    id: `${courseId}-s${index + 1}`,
    title,
    lectures: lectures.slice(index * size, (index + 1) * size),
  })).filter((section) => section.lectures.length > 0);
}
