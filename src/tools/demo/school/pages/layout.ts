import type { Response } from 'express';
import { type Html, html } from '../../../../http/html.ts';
import type { Visitor } from '../visitors.ts';

/** A page: the id of its `main` element, its title and its content. */
export interface PageParts {
  readonly id: string;
  readonly title: string;
  readonly visitor: Visitor;
  readonly main: Html;
}

/** The name of the demo's school. */
export const SCHOOL_NAME = 'Harbour Lane School';

// No form-action: browsers apply it to every redirect after a form's POST, and a member who has just signed in may be
// on the way to another site.
const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Sends a page. It must not be cached, since it contains the visitor's name and form token. */
export function sendPage(response: Response, status: number, page: PageParts): void {
  response
    .status(status)
    .set({
      'cache-control': 'no-store',
      'content-security-policy': POLICY,
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
    .type('html')
    .send(documentOf(page).text);
}

function documentOf({ id, title, visitor, main }: PageParts): Html {
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
  return html`<span>${member.name}</span>
<form method="post" action="/logout"><input type="hidden" name="csrf" value="${csrf}">
<button class="plain">Sign out</button></form>`;
}
