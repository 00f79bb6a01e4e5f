import { type Html, html } from '../../../http/html.ts';
import { playbackTime } from '../../connect/courses.ts';
import { type Course, type Enrolment, type Person, positionKey, type SchoolData } from './data/school-data.ts';
import { type Page, SCHOOL_NAME } from './page.ts';

const FEATURED = 6;
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** The front page. */
export function homePage({ courses }: SchoolData, member: Person | undefined): Page {
  const main = html`<h1>${SCHOOL_NAME}</h1>
<p class="lead">${courses.length} courses from a net loft by the sea: sailing, bread, joinery, drawing, words and data, taught by
people who do it for a living.</p>
${
  member === undefined
    ? html`<p><a class="button" href="/login">Sign in</a> to continue where you stopped.</p>`
    : html`<p>You are signed in as ${member.name}. <a class="button" href="/my/courses">Go to my courses</a></p>`
}
<h2>This season</h2>
${catalogue(courses.slice(0, FEATURED))}
<p><a href="/courses">All ${courses.length} courses</a></p>`;
  return { id: 'school-home', title: 'Welcome', main };
}

/** The catalogue. */
export function coursesPage({ courses }: SchoolData): Page {
  const main = html`<h1>Courses</h1>
<p class="lead">${courses.length} courses, all with captions, all for beginners and for people who think they are not.</p>
${catalogue(courses)}`;
  return { id: 'school-courses', title: 'Courses', main };
}

/** One course, with the visitor's enrolment and position, if any. */
export function coursePage(course: Course, data: SchoolData, member: Person | undefined, now: number): Page {
  const { slug, title, summary, lecturer, lecture_seconds, sections, price_cents } = course;
  const minutes = Math.round(lecture_seconds.reduce((sum, seconds) => sum + seconds, 0) / 60);
  const enrolment = data.enrolments.find((item) => item.member_id === member?.id && item.course === course);
  const position = data.positions.get(positionKey(member?.id ?? '', slug));
  const stopped = position && html` (you stopped at ${playbackTime(position.position_ms / 1000)})`;
  const access = enrolment
    ? `You are enrolled. ${accessOf(enrolment, now)}.`
    : `${priceOf(price_cents)} for a year and a half of access.`;
  const main = html`<h1>${title}</h1>
<p class="lead">${summary}</p>
<p class="soft">With ${lecturer} · ${lecture_seconds.length} lectures · ${minutes} minutes</p>
<p class="info">${access}</p>
${sections.map(
  (section) => html`<h2>${section.title}</h2>
<ol class="lectures">
${section.lectures.map(({ id, title, duration_seconds }) => {
  const here = position?.lecture_id === id;
  return html`<li${here && html` class="here"`}><span>${title}${here && stopped}</span><span>${playbackTime(duration_seconds)}</span></li>
`;
})}</ol>
`,
)}`;
  return { id: 'school-course', title, main };
}

/** "My courses". */
export function myCoursesPage(data: SchoolData, member: Person, now: number): Page {
  const own = data.enrolments.filter(({ member_id }) => member_id === member.id);
  const main = html`<h1>My courses</h1>
<p class="lead">You are enrolled in ${own.length} courses.</p>
<ul class="cards">
${own.map((enrolment) => {
  const { course } = enrolment;
  const position = data.positions.get(positionKey(member.id, course.slug));
  const details = html`${progressOf(course, position?.lecture_id)}\n<p class="soft">${accessOf(enrolment, now)}</p>`;
  return courseCard(course, details);
})}</ul>
<p><a href="/oauth/apps">Apps you have connected to your account</a></p>`;
  return { id: 'school-my-courses', title: 'My courses', main };
}

function catalogue(courses: readonly Course[]) {
  const cards = courses.map((course) => {
    const { summary, lecturer, lecture_seconds, price_cents } = course;
    const facts = `${lecturer} · ${lecture_seconds.length} lectures · ${priceOf(price_cents)}`;
    return courseCard(course, html`<p>${summary}</p>\n<p class="soft">${facts}</p>`);
  });
  return html`<ul class="cards">\n${cards}</ul>`;
}

function progressOf({ title, sections }: Course, lectureId: number | undefined) {
  const lectures = sections.flatMap((section) => section.lectures);
  const number = 1 + lectures.findIndex(({ id }) => id === lectureId);
  if (number === 0) return html`<p class="soft">Not started</p>`;
  return html`<p>Lecture ${number} of ${lectures.length}: ${lectures[number - 1]?.title}</p>
<progress aria-label="Progress in ${title}" max="${lectures.length}" value="${number}"></progress>`;
}

function priceOf(cents: number): string {
  return `€${(cents / 100).toFixed(2)}`;
}

/** Describes how long the access lasts. */
function accessOf({ expires_at }: Enrolment, now: number): string {
  if (expires_at === 0) return 'Lifetime access';
  return `${expires_at > now ? 'Access until' : 'Access ended on'} ${DATE.format(expires_at * 1000)}`;
}

/** A course in a list, with what `details` says about it. */
function courseCard({ slug, title }: Course, details: Html): Html {
  return html`<li>
<h2><a href="/courses/${slug}">${title}</a></h2>
${details}
</li>
`;
}
