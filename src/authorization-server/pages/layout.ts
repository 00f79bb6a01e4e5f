import { type Html, html, htmlDocument } from '../../http/html.ts';
import type { Phrase, Words } from './words.ts';

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
    | 'machine'
    | 'document'
    | 'apps'
    | 'app'
    | 'apps-sign-in'
    | 'disconnect'
    | 'approval'
    | 'signed-out';
  readonly title: string;
  readonly body: Html;
}

/** A page that begins with a heading, which is its title unless there is another phrase for it. */
export function titled(
  words: Words,
  id: MemberPage['id'],
  body: Html,
  title: Phrase,
  heading: Phrase = title,
): MemberPage {
  return { id, title: words.text(title), body: html`<h1>${words.html(heading)}</h1>\n${body}` };
}

/** What surrounds every page. */
export interface Frame {
  readonly school: string;
  readonly stylesheetUrl: string;
  readonly logoUrl: string | undefined;
  /** The course site; undefined if there is no address for it. */
  readonly home: string | undefined;
  /** The page of connected apps, in the language of this page. */
  readonly apps: string;
  /** Where members find help. */
  readonly support: string | undefined;
  readonly policyUri: string | undefined;
  readonly tosUri: string | undefined;
}

/** Pages on which an app is waiting for an answer. Their ways out open in a new tab, so that the app keeps waiting. */
const WAITING = new Set<MemberPage['id']>(['login', 'sign-in', 'expected', 'unconfirmed', 'consent', 'suspended']);

/** Renders the complete document. */
export function renderPage(page: MemberPage, words: Words, frame: Frame): string {
  const { school, logoUrl, home, apps, support, policyUri, tosUri } = frame;
  const tab = WAITING.has(page.id) && html` target="_blank"`;
  const name = html`${logoUrl !== undefined && html`<img src="${logoUrl}" alt="">`}<bdi>${school}</bdi>`;
  // An error page offers them as the next steps.
  const isError = page.id === 'error';
  const ways = [
    !isError && home !== undefined && html`<a href="${home}" rel="noopener"${tab}>${words.html('apps.back')}</a>`,
    !isError && page.id !== 'apps' && html`<a href="${apps}" rel="noopener"${tab}>${words.html('apps.title')}</a>`,
    support !== undefined && html`<a href="${support}" rel="noopener noreferrer">${words.html('help')}</a>`,
    policyUri !== undefined &&
      html`<a href="${policyUri}" rel="noopener noreferrer"${tab}>${words.html('privacy')}</a>`,
    tosUri !== undefined && html`<a href="${tosUri}" rel="noopener noreferrer"${tab}>${words.html('terms')}</a>`,
  ].filter((way) => way !== false);
  return htmlDocument({
    language: words.language,
    direction: words.direction,
    title: `${page.title} · ${school}`,
    head: html`<link rel="stylesheet" href="${frame.stylesheetUrl}">
${logoUrl !== undefined && html`<link rel="icon" href="${logoUrl}">`}`,
    body: html`<header class="school">${home === undefined ? name : html`<a href="${home}" rel="noopener"${tab}>${name}</a>`}</header>
<main id="${page.id}">
${page.body}
</main>
${ways.length > 0 && html`<footer class="ways">${ways}</footer>`}`,
  });
}
