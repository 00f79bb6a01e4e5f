import { type Html, html } from '../../../../http/html.ts';
import type { Course, Lecture } from '../data/catalogue.ts';
import type { Enrolment, Position } from '../data/enrolments.ts';
import type { Member } from '../data/members.ts';
import { type Page, SCHOOL_NAME } from './layout.ts';
import { pager, type Shown } from './pager.ts';

const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** The front page. */
export function homePage(member: Member | undefined, courses: readonly Course[], total: number): Page {
  const main = html`<h1>${SCHOOL_NAME}</h1>
<p class="lead">${total} courses from a net loft by the sea: sailing, bread, joinery, drawing, words and data, taught by
people who do it for a living.</p>
${
  member === undefined
    ? html`<p><a class="button" href="/login">Sign in</a> to continue where you stopped.</p>`
    : html`<p>You are signed in as ${member.name}. <a class="button" href="/my/courses">Go to my courses</a></p>`
}
<h2>This season</h2>
${courseCards(courses)}
<p><a href="/courses">All ${total} courses</a></p>`;
  return { id: 'school-home', title: 'Welcome', main };
}

/** The catalogue. */
export function coursesPage(shown: Shown<Course>): Page {
  const main = html`<h1>Courses</h1>
<p class="lead">${shown.total} courses, all with captions, all for beginners and for people who think they are not.</p>
${courseCards(shown.items)}
${pager(shown, '/courses')}`;
  return { id: 'school-courses', title: 'Courses', main };
}

/** One course, with the visitor's enrolment and position, if any. */
export function coursePage(
  course: Course,
  enrolment: Enrolment | undefined,
  position: Position | undefined,
  now: number,
): Page {
  const { title, summary, lecturer, lectures, sections, priceCents } = course;
  const minutes = Math.round(lectures.reduce((sum, lecture) => sum + lecture.duration_seconds, 0) / 60);
  const access =
    enrolment === undefined
      ? `${priceOf(priceCents)} for a year and a half of access.`
      : `You are enrolled. ${accessOf(enrolment, now)}.`;
  const main = html`<h1>${title}</h1>
<p class="lead">${summary}</p>
<p class="soft">With ${lecturer.name} · ${lectures.length} lectures · ${minutes} minutes</p>
<p class="info">${access}</p>
${sections.map(
  (section) => html`<h2>${section.title}</h2>
<ol class="lectures">
${section.lectures.map((lecture) => lectureLine(lecture, position))}</ol>
`,
)}`;
  return { id: 'school-course', title, main };
}

/** "My courses". `positions` are keyed by course slug. */
export function myCoursesPage(
  shown: Shown<Enrolment>,
  positions: ReadonlyMap<string, Position> | undefined,
  now: number,
): Page {
  const main = html`<h1>My courses</h1>
<p class="lead">You are enrolled in ${shown.total} courses.</p>
<ul class="cards">
${shown.items.map(
  (enrolment) => html`<li>
<h2><a href="/courses/${enrolment.course.slug}">${enrolment.course.title}</a></h2>
${progressOf(enrolment.course, positions?.get(enrolment.course.slug))}
<p class="soft">${accessOf(enrolment, now)}</p>
</li>
`,
)}</ul>
${pager(shown, '/my/courses')}
<p><a href="/oauth/apps">Apps you have connected to your account</a></p>`;
  return { id: 'school-my-courses', title: 'My courses', main };
}

function courseCards(courses: readonly Course[]): Html {
  return html`<ul class="cards">
${courses.map(
  (course) => html`<li>
<h2><a href="/courses/${course.slug}">${course.title}</a></h2>
<p>${course.summary}</p>
<p class="soft">${course.lecturer.name} · ${course.lectures.length} lectures · ${priceOf(course.priceCents)}</p>
</li>
`,
)}</ul>`;
}

function lectureLine({ id, title, duration_seconds }: Lecture, position: Position | undefined): Html {
  const here = position?.lecture_id === id;
  const stopped = here && html` (you stopped at ${clockOf(position.position_ms / 1000)})`;
  return html`<li${here && html` class="here"`}><span>${title}${stopped}</span><span>${clockOf(duration_seconds)}</span></li>
`;
}

function progressOf({ title, lectures }: Course, position: Position | undefined): Html {
  const index = lectures.findIndex((lecture) => lecture.id === position?.lecture_id);
  const lecture = lectures[index];
  if (lecture === undefined) return html`<p class="soft">Not started</p>`;
  return html`<p>Lecture ${index + 1} of ${lectures.length}: ${lecture.title}</p>
<progress aria-label="Progress in ${title}" max="${lectures.length}" value="${index + 1}"></progress>`;
}

/** Formats seconds as m:ss. */
function clockOf(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}

function priceOf(cents: number): string {
  return `€${(cents / 100).toFixed(2)}`;
}

/** Describes how long the access lasts. */
function accessOf({ expiresAt }: Enrolment, now: number): string {
  if (expiresAt === 0) return 'Lifetime access';
  return `${expiresAt > now ? 'Access until' : 'Access ended on'} ${DATE.format(expiresAt * 1000)}`;
}
