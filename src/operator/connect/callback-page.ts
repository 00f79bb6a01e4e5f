import { createHash } from 'node:crypto';
import { html, htmlDocument } from '../../http/html.ts';

/**
 * What the browser shows after the redirect back. The text is fixed, apart from the name of the site: nothing from the
 * request is displayed.
 */
const PAGES = {
  received: {
    mark: '✓',
    title: 'You can close this window',
    happened: 'answered, and the answer has reached your terminal.',
    next: 'Return to your terminal to continue.',
  },
  denied: {
    mark: '–',
    title: 'Nothing was connected',
    happened: 'did not grant access, because the request was cancelled there.',
    next: 'Close this window. To try again, run the command in your terminal again.',
  },
  failed: {
    mark: '!',
    title: 'Nothing was connected',
    happened: 'could not grant access. Your terminal shows the reason.',
    next: 'Close this window, and follow the advice in your terminal.',
  },
  stranger: {
    mark: '!',
    title: 'This is not the expected response',
    happened: 'may have sent you here, but not in answer to the request that your terminal is waiting for.',
    next: 'Go back to the page that your terminal opened, or run the command again. If you did not start it, close this window.',
  },
  nothing: {
    mark: '!',
    title: 'There is nothing at this address',
    happened: 'sends you to another address of this computer when you have approved.',
    next: 'Go back to the page that your terminal opened.',
  },
} as const;

export type CallbackPage = keyof typeof PAGES;

/** Without characters that HTML escapes. */
const STYLE = `
:root { color-scheme: light dark; --ink: #1a2233; --soft: #4a5468; --paper: #fff; --ground: #f2f4f8; --line: #c9d0dc; --mark: #7a3d00; --wash: #fff3e0; }
.received { --mark: #14532d; --wash: #eaf6ee; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ecf4; --soft: #b3bccd; --paper: #1b2130; --ground: #11151f; --line: #3b465c; --mark: #ffdcb8; --wash: #3d2a12; }
  .received { --mark: #b5e6c6; --wash: #16301f; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif; overflow-wrap: anywhere; }
header { max-width: 34rem; margin: 0 auto; padding: 1.25rem 1rem .5rem; color: var(--soft); font-weight: 600; }
main { max-width: 34rem; margin: 0 auto 1rem; padding: 1.5rem 1rem; background: var(--paper); border: 1px solid var(--line); border-width: 1px 0; }
@media (min-width: 36rem) { header { padding-inline: 2rem; } main { padding: 2rem; border-width: 1px; border-radius: .75rem; } }
.mark { display: grid; place-items: center; width: 3rem; height: 3rem; margin: 0 0 1rem; border-radius: 50%; background: var(--wash); color: var(--mark); font-size: 1.5rem; font-weight: 700; line-height: 1; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; }
p { margin: 0 0 1rem; }
main .soft { margin: 0; color: var(--soft); }
`;

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
