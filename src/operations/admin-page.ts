import { html, htmlDocument, PAGE_HEADERS } from '../http/html.ts';

/** A refusal of the admin listener as a page for a browser. It is in the console's style, and leads to that below `mount`. */
export function refusalPage(title: string, sentence: string, mount: string) {
  return {
    headers: PAGE_HEADERS,
    text: htmlDocument({
      title: `${title} · coursegate`,
      head: html`<link rel="stylesheet" href="${mount}/console/console.css">
<link rel="icon" href="${mount}/console/icon.svg" type="image/svg+xml">`,
      bodyClass: 'outside',
      body: html`<header class="top"><p class="school">coursegate <span>admin listener</span></p></header>
<main id="main">
<h1>${title}</h1>
<p>${sentence}</p>
<p class="actions"><a class="button" href="${mount}/console">Open the console</a></p>
</main>`,
    }),
  };
}
