import { type Html, html } from '../../../../http/html.ts';
import type { Course } from '../data/catalogue.ts';
import { pager, type Shown } from './pager.ts';
import { priceOf } from './words.ts';

/** Renders a card for each course. */
export function courseCards(courses: readonly Course[]): Html {
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

/** The main part of the catalogue. */
export function coursesPage(shown: Shown<Course>): Html {
  return html`<h1>Courses</h1>
<p class="lead">${shown.total} courses, all with captions, all for beginners and for people who think they are not.</p>
${courseCards(shown.items)}
${pager(shown, '/courses')}`;
}
