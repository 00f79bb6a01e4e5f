import { type Html, html, htmlDocument } from '../../http/html.ts';
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
  return htmlDocument({
    language: words.language,
    direction: words.direction,
    title: `${page.title} · ${frame.school}`,
    head: html`<link rel="stylesheet" href="${frame.stylesheetUrl}">
${frame.logoUrl !== undefined && html`<link rel="icon" href="${frame.logoUrl}">`}`,
    body: html`<header class="school">${frame.logoUrl !== undefined && html`<img src="${frame.logoUrl}" alt="">`}<bdi>${frame.school}</bdi></header>
<main id="${page.id}">
${page.body}
</main>
${frame.support !== undefined && html`<footer class="help"><a href="${frame.support}" rel="noopener noreferrer">${words.html('help')}</a></footer>`}`,
  });
}
