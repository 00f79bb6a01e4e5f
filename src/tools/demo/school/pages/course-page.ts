import { type Html, html } from '../../../../http/html.ts';
import type { Course, Lecture } from '../data/catalogue.ts';
import type { Enrolment, Position } from '../data/enrolments.ts';
import { accessOf, clockOf, priceOf } from './words.ts';

/** The visitor's enrolment in the course and position, if any. */
export interface Part {
  readonly enrolment: Enrolment | undefined;
  readonly position: Position | undefined;
}

/** The main part of a course's page. */
export function coursePage(course: Course, part: Part, now: number): Html {
  const minutes = Math.round(course.lectures.reduce((sum, lecture) => sum + lecture.durationSeconds, 0) / 60);
  return html`<h1>${course.title}</h1>
<p class="lead">${course.summary}</p>
<p class="soft">With ${course.lecturer.name} · ${course.lectures.length} lectures · ${minutes} minutes</p>
${
  part.enrolment === undefined
    ? html`<p class="info">${priceOf(course.priceCents)} for a year and a half of access.</p>`
    : html`<p class="info">You are enrolled. ${accessOf(part.enrolment, now)}.</p>`
}
${course.sections.map(
  (section) => html`<h2>${section.title}</h2>
<ol class="lectures">
${section.lectures.map((lecture) => lectureLine(lecture, part.position))}</ol>
`,
)}`;
}

function lectureLine(lecture: Lecture, position: Position | undefined): Html {
  const length = clockOf(lecture.durationSeconds);
  if (position?.lecture_id !== lecture.id)
    return html`<li><span>${lecture.title}</span><span>${length}</span></li>
`;
  const stopped = clockOf(position.position_ms / 1000);
  return html`<li class="here"><span>${lecture.title} (you stopped at ${stopped})</span><span>${length}</span></li>
`;
}
