import { type Html, html } from '../../http/html.ts';
import type { Words } from './words.ts';

export interface MemberPage {
  /** The id of the page's `main` element, by which tools and tests identify the page. */
  readonly id:
    | 'login'
    | 'sign-in'
    | 'expected'
    | 'unconfirmed'
    | 'consent'
    | 'suspended'
    | 'error'
    | 'mcp'
    | 'apps'
    | 'app'
    | 'apps-sign-in'
    | 'disconnect';
  readonly title: string;
  readonly body: Html;
}

/** What surrounds every page. */
export interface Frame {
  readonly school: string;
  readonly stylesheetUrl: string;
  readonly logoUrl: string | undefined;
  /** Where members find help. */
  readonly support: string | undefined;
}

/** Renders the complete document. */
export function renderPage(page: MemberPage, words: Words, frame: Frame): string {
  return html`<!doctype html>
<html lang="${words.language}" dir="${words.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.title} · ${frame.school}</title>
<link rel="stylesheet" href="${frame.stylesheetUrl}">
${frame.logoUrl !== undefined && html`<link rel="icon" href="${frame.logoUrl}">`}
</head>
<body>
<header class="school">${frame.logoUrl !== undefined && html`<img src="${frame.logoUrl}" alt="">`}<bdi>${frame.school}</bdi></header>
<main id="${page.id}">
${page.body}
</main>
${frame.support !== undefined && html`<footer class="help"><a href="${frame.support}" rel="noopener noreferrer">${words.html('help')}</a></footer>`}
</body>
</html>
`.text;
}
