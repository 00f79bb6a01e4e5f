import type { Request, Response } from 'express';
import { type Html, html } from '../../../../http/html.ts';
import type { Visitor } from '../visitors.ts';

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

/**
 * The school's icon, a sail over water. It is served as /favicon.ico, which browsers request by default, so that all
 * pages of this origin have it, including the gate's.
 */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#14506b"/>
<path d="M15 5v16H6zM17 9v12h8z" fill="#fff"/><path d="M5 24q3.5 3 7 0t7 0 8 0" fill="none" stroke="#fff" stroke-width="2"/></svg>
`;

// No form-action: browsers apply it to every redirect after a form's POST, and a member who has just signed in may be
// on the way to another site.
const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Sends a page. It must not be cached, since it contains the visitor's name and form token. */
export function sendPage(response: Response, status: number, visitor: Visitor, page: Page): void {
  response
    .status(status)
    .set({
      'cache-control': 'no-store',
      'content-security-policy': POLICY,
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
    .type('html')
    .send(documentOf(page, visitor).text);
}

/** A page with only a heading and a sentence. */
export function messagePage(title: string, heading: string, sentence: string): Page {
  const main = html`<div class="panel narrow">
<h1>${heading}</h1>
<p>${sentence}</p>
<p><a href="/">To the front page</a></p>
</div>`;
  return { id: 'school-message', title, main };
}

function documentOf({ id, title, main }: Page, visitor: Visitor): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · ${SCHOOL_NAME}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<a class="skip" href="#${id}">Skip to content</a>
<header>
<p class="note">This is the demo's legacy school: an old course site with its own sign-in.</p>
<div class="bar"><div>
<a class="brand" href="/">${SCHOOL_NAME}</a>
<nav aria-label="Site">
<a href="/courses">Courses</a>
<a href="/my/courses">My courses</a>
${signInState(visitor)}
</nav>
</div></div>
</header>
<main id="${id}">
${main}
</main>
<footer>${SCHOOL_NAME}, Harbour Lane 4. Learn something by hand.</footer>
</body>
</html>
`;
}

function signInState({ member, csrf }: Visitor): Html {
  if (member === undefined) return html`<a href="/login">Sign in</a>`;
  return html`<div class="visitor"><span>${member.name}</span>
<form method="post" action="/logout"><input type="hidden" name="csrf" value="${csrf}">
<button class="plain">Sign out</button></form></div>`;
}
