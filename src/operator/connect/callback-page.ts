import { createHash } from 'node:crypto';
import { USUAL_COLOUR } from '../../http/colour.ts';
import { html, htmlDocument } from '../../http/html.ts';
import { palette } from '../../http/palette.ts';
import { codePath, readInstalled } from '../../installation.ts';
import PAGES from './callback-pages.json' with { type: 'json' };

/**
 * What the browser shows after the redirect back. The text is fixed, apart from the name of the site: nothing from the
 * request is displayed.
 */
export type CallbackPage = keyof typeof PAGES;

/** In the colours of the members' pages. Without characters that HTML escapes. */
const STYLE = palette(USUAL_COLOUR) + readInstalled(codePath('operator/connect/callback-page.css')).toString('utf8');

/** The policy of these pages: their own style, byte for byte, and nothing else. */
export const CALLBACK_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/**
 * A complete page without scripts.
 * @param site - the name of the site, from its metadata
 */
export function callbackPage(kind: CallbackPage, site: string): string {
  const { mark, title, happened, next } = PAGES[kind];
  return htmlDocument({
    title: `${title} · ${site}`,
    head: html`<style>${STYLE}</style>`,
    body: html`<header>coursegate connect · <bdi>${site}</bdi></header>
<main id="connect" class="${kind}">
<p class="mark" aria-hidden="true">${mark}</p>
<h1>${title}</h1>
<p><bdi>${site}</bdi> ${happened}</p>
<p class="soft">${next}</p>
</main>`,
  });
}
