import { COURSE_TEXTS } from './courses.ts';
import { LECTURERS, slugOf } from './lecturers.ts';
import { seededRandom } from './random.ts';
import { DAY } from './time.ts';

export type Course = ReturnType<typeof buildCatalogue>[number];
export type Lecture = Course['lectures'][number];

const FIRST_LECTURE_ID = 4701;
const PRICES = [2900, 3900, 4900, 5900, 7900, 12900];
const SECTION_TITLES = ['Before you start', 'The essentials', 'Practice', 'Going further'];
/** Short courses use only the first ones. */
const LECTURE_TITLES = [
  'Welcome aboard',
  'What you need, and what you can do without',
  'Safe hands',
  'Finding your bearings',
  'The basic method',
  'A first small piece',
  'Three common mistakes',
  'A worked example',
  'Variations',
  'When the plan fails',
  'Show your work',
  'Where to go from here',
];

/** The sixty courses of the school, always the same. `today` is midnight. */
export function buildCatalogue(today: number) {
  const random = seededRandom(7);
  let lectureId = FIRST_LECTURE_ID;
  return COURSE_TEXTS.map(([subject, title, summary], index) => {
    const id = `c-${index + 1}`;
    const lectures = LECTURE_TITLES.slice(0, random.whole(8, 12)).map((lectureTitle) => ({
      id: lectureId++,
      title: lectureTitle,
      duration_seconds: random.whole(5 * 60, 24 * 60),
    }));
    const lecturer = random.pick(LECTURERS.filter((person) => person.subject === subject));
    const perSection = Math.ceil(lectures.length / SECTION_TITLES.length);
    const sections = SECTION_TITLES.map((sectionTitle, at) => ({
      id: `${id}-s${at + 1}`,
      title: sectionTitle,
      lectures: lectures.slice(at * perSection, (at + 1) * perSection),
    })).filter((section) => section.lectures.length > 0);
    const priceCents = random.pick(PRICES);
    const publishedAt = today - random.whole(800, 1600) * DAY;
    return { id, slug: slugOf(title), title, summary, lecturer, sections, lectures, priceCents, publishedAt };
  });
}
