import type { Request, Response } from 'express';
import { type Html, html } from '../../../http/html.ts';
import { documentOf } from '../site.ts';
import type { Visitor } from './visitors.ts';

/** A page: the id of its `main` element, its title and its content. */
export interface Page {
  readonly id: string;
  readonly title: string;
  readonly main: Html;
}

/** Sends a page to the visitor who asked. */
export type Send = (request: Request, response: Response, status: number, page: (visitor: Visitor) => Page) => void;

/** The name of the demo's school. */
export const SCHOOL_NAME = 'Harbour Lane School';

/** A page with only a heading and a sentence. */
export function messagePage(title: string, sentence: string): Page {
  const main = html`<div class="panel narrow">
<h1>${title}</h1>
<p>${sentence}</p>
<p><a href="/">To the front page</a></p>
</div>`;
  return { id: 'school-message', title, main };
}

/** The page as HTML, with the school's header and footer. */
export function schoolDocument({ id, title, main }: Page, { member, csrf }: Visitor): string {
  const visitor =
    member === undefined
      ? html`<a href="/login">Sign in</a>`
      : html`<div class="visitor"><span>${member.name}</span>
<form method="post" action="/logout"><input type="hidden" name="csrf" value="${csrf}">
<button class="plain">Sign out</button></form></div>`;
  const body = html`<a class="skip" href="#${id}">Skip to content</a>
<header>
<p class="note">This is the demo's legacy school: an old course site with its own sign-in.</p>
<div class="bar"><div>
<a class="brand" href="/">${SCHOOL_NAME}</a>
<nav aria-label="Site">
<a href="/courses">Courses</a>
<a href="/my/courses">My courses</a>
${visitor}
</nav>
</div></div>
</header>
<main id="${id}">
${main}
</main>
<footer>${SCHOOL_NAME}, Harbour Lane 4. Learn something by hand.</footer>`;
  return documentOf(`${title} · ${SCHOOL_NAME}`, body);
}
