import { type Html, html } from '../../../../http/html.ts';
import type { Course } from '../data/catalogue.ts';
import type { Visitor } from '../visitors.ts';
import { courseCards } from './courses-page.ts';
import { SCHOOL_NAME } from './layout.ts';

/** The main part of the front page. */
export function homePage({ member }: Visitor, courses: readonly Course[], total: number): Html {
  return html`<h1>${SCHOOL_NAME}</h1>
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
}
