import { type Html, html } from '../../../../http/html.ts';
import type { Enrolment, Position } from '../data/enrolments.ts';
import { pager, type Shown } from './pager.ts';
import { accessOf } from './words.ts';

/** The main part of "My courses". `positions` are keyed by course slug. */
export function myCoursesPage(
  shown: Shown<Enrolment>,
  positions: ReadonlyMap<string, Position> | undefined,
  now: number,
): Html {
  return html`<h1>My courses</h1>
<p class="lead">You are enrolled in ${shown.total} courses.</p>
<ul class="cards">
${shown.items.map(
  (enrolment) => html`<li>
<h2><a href="/courses/${enrolment.course.slug}">${enrolment.course.title}</a></h2>
${progressOf(enrolment, positions?.get(enrolment.course.slug))}
<p class="soft">${accessOf(enrolment, now)}</p>
</li>
`,
)}</ul>
${pager(shown, '/my/courses')}
<p><a href="/oauth/apps">Apps you have connected to your account</a></p>`;
}

function progressOf({ course }: Enrolment, position: Position | undefined): Html {
  const { lectures } = course;
  const index = lectures.findIndex((lecture) => lecture.id === position?.lecture_id);
  const lecture = lectures[index];
  if (lecture === undefined) return html`<p class="soft">Not started</p>`;
  return html`<p>Lecture ${index + 1} of ${lectures.length}: ${lecture.title}</p>
<progress aria-label="Progress in ${course.title}" max="${lectures.length}" value="${index + 1}"></progress>`;
}
