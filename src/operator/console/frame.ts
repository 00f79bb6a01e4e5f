import type { ServerResponse } from 'node:http';
import manifest from '../../../package.json' with { type: 'json' };
import { writeAnswer } from '../../http/answer.ts';
import { inkOn } from '../../http/colour.ts';
import { type Html, type HtmlValue, html, htmlDocument } from '../../http/html.ts';
import { palette } from '../../http/palette.ts';
import { codePath, readInstalled } from '../../installation.ts';
import type { ConsolePage } from './console-page.ts';
import { mountOf, ROOT } from './paths.ts';

export const STYLESHEET = `${ROOT}/console.css`;
export const ICON = `${ROOT}/icon.svg`;
export const SIGN_IN = `${ROOT}/sign-in`;
export const SIGN_OUT = `${ROOT}/sign-out`;

/** The header fields of every page. Nothing is loaded from elsewhere, nothing frames the console, nothing is cached. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  // Not no-referrer: browsers would then send `Origin: null` with the console's own forms.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** What a page shows of the signed-in operator. */
export interface Operator {
  /** The subject of the client certificate; undefined when signed in with the secret. */
  readonly certificate: string | undefined;
  readonly csrf: string;
}

export interface View {
  readonly title: string;
  readonly body: Html;
  /** The path of the page whose entry of the navigation is marked; undefined for a failure. */
  readonly under?: string | undefined;
  /** Undefined when no operator is signed in. */
  readonly operator?: Operator | undefined;
  /** What the last action did. */
  readonly notice?: string | undefined;
}

type Entry = Pick<ConsolePage, 'entry' | 'path'>;

export type ConsoleFrame = ReturnType<typeof createFrame>;

/** Sends the pages, in the frame that they share, and what every page loads. */
export function createFrame(school: string, colour: string, pages: readonly Entry[]) {
  /** The complete document. */
  const render = ({ title, body, under, operator, notice }: View): string =>
    htmlDocument({
      title: `${title} · ${school} console`,
      head: html`<link rel="stylesheet" href="${STYLESHEET}">
<link rel="icon" href="${ICON}" type="image/svg+xml">`,
      bodyClass: operator === undefined ? 'outside' : 'inside',
      body: html`<a class="skip" href="#main">Skip to content</a>
<header class="top">
<p class="school"><bdi>${school}</bdi> <span>console</span></p>
${
  operator !== undefined &&
  html`<form method="post" action="${SIGN_OUT}">
<input type="hidden" name="csrf" value="${operator.csrf}">
<button class="quiet">Sign out</button>
</form>`
}
</header>
${operator !== undefined && navigation(pages, under)}
<main id="main" tabindex="-1">
<h1>${title}</h1>
${notice !== undefined && html`<p class="notice good" role="status">${notice}</p>`}
${body}
</main>
${operator !== undefined && html`<footer class="foot">coursegate ${manifest.version} · ${signedInWith(operator)}</footer>`}`,
    });
  /** The same for everyone, and without data. */
  const sendAsset = (type: string, body: string) => (response: ServerResponse) =>
    writeAnswer(response, {
      status: 200,
      headers: { ...PAGE_HEADERS, 'content-type': type, 'cache-control': 'private, max-age=60' },
      body,
    });
  return {
    send(response: ServerResponse, status: number, view: View, headers: Readonly<Record<string, string>> = {}): void {
      const body = mounted(render(view), mountOf(response.req));
      writeAnswer(response, { status, headers: { ...PAGE_HEADERS, ...headers }, body });
    },
    // In the colours of the members' pages.
    sendStylesheet: sendAsset(
      'text/css; charset=utf-8',
      palette(colour) + readInstalled(codePath('operator/console/console.css')).toString('utf8'),
    ),
    sendIcon: sendAsset('image/svg+xml', consoleIcon(colour)),
  };
}

function signedInWith({ certificate }: Operator): HtmlValue {
  return certificate === undefined ? 'Signed in with the admin secret' : html`Certificate: <bdi>${certificate}</bdi>`;
}

function navigation(pages: readonly Entry[], under: string | undefined): Html {
  const links = pages
    .filter(({ entry }) => entry !== undefined)
    .map(
      ({ entry, path }) =>
        html`<li><a href="${addressOf(path)}"${path === under && html` aria-current="page"`}>${entry}</a></li>\n`,
    );
  return html`<nav class="sections" aria-label="Console">
<ul>
${links}</ul>
</nav>`;
}

/** Where a page of the table is served. */
export function addressOf(path: string): string {
  return path === '/' ? ROOT : ROOT + path;
}

/** Pages name their addresses from ROOT on. Text cannot be taken for an attribute: its quotes are escaped. */
function mounted(page: string, mount: string): string {
  return mount === '' ? page : page.replace(/ (href|action)="(?=\/console[/?#"])/g, `$&${mount}`);
}

/** Redirects the browser with GET (RFC 9110 section 15.4.4) to a path of the console. */
export function see(response: ServerResponse, path: string): void {
  const { 'content-type': _, ...headers } = PAGE_HEADERS;
  writeAnswer(response, { status: 303, headers: { ...headers, location: mountOf(response.req) + path }, body: '' });
}

/** The icon of the tab: a gate, in the colour of the pages. */
function consoleIcon(colour: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="${colour}"/><path d="M9 25V12a7 7 0 0 1 14 0v13M16 9v16" fill="none" stroke="${inkOn(colour)}" stroke-width="3" stroke-linecap="round"/></svg>`;
}
