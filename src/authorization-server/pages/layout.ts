import type { ServerResponse } from 'node:http';
import { writeAnswer } from '../../http/answer.ts';
import { type Html, html } from '../../http/html.ts';
import { ENDPOINTS } from '../endpoints.ts';

export interface Page {
  /** The id of the page's one `main` element: what tools and tests find it by. */
  readonly id: 'login' | 'consent' | 'error';
  readonly title: string;
  readonly school: string;
  readonly body: Html;
}

/**
 * Headers of every page. `form-action` is left out on purpose: Chromium applies it to the whole redirect chain after a
 * form is posted, so any value would cut off the very app that the member has just approved.
 */
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

export function renderPage(page: Page): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · ${page.school}</title>
<link rel="stylesheet" href="${ENDPOINTS.stylesheet}">
</head>
<body>
<header class="school">${page.school}</header>
<main id="${page.id}">
${page.body}
</main>
</body>
</html>
`.text;
}

/** Sends a page. In: the status, the page, and header fields to add. */
export function sendPage(
  response: ServerResponse,
  status: number,
  page: Page,
  headers: Record<string, string> = {},
): void {
  writeAnswer(response, { status, headers: { ...HEADERS, ...headers }, body: renderPage(page) });
}

/** Sends the browser on with GET (RFC 9110 §15.4.4), telling no one where it came from. */
export function redirect(response: ServerResponse, location: string): void {
  writeAnswer(response, {
    status: 303,
    headers: { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
    body: '',
  });
}
