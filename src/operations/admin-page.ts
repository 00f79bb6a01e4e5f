import { html, htmlDocument } from '../http/html.ts';

/** A refusal of the admin listener as a page for a browser. It is in the console's style, and leads there. */
export function refusalPage(title: string, sentence: string) {
  return {
    contentType: 'text/html; charset=utf-8',
    headers: {
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
    text: htmlDocument({
      title: `${title} · coursegate`,
      head: html`<link rel="stylesheet" href="/console/console.css">
<link rel="icon" href="/console/icon.svg" type="image/svg+xml">`,
      bodyClass: 'outside',
      body: html`<header class="top"><p class="school">coursegate <span>admin listener</span></p></header>
<main id="main">
<h1>${title}</h1>
<p>${sentence}</p>
<p class="actions"><a class="button" href="/console">Open the console</a></p>
</main>`,
    }),
  };
}
