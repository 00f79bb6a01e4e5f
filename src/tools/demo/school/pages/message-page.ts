import { type Html, html } from '../../../../http/html.ts';

/** The main part of a page with only a heading and a sentence. */
export function messagePage(heading: string, sentence: string): Html {
  return html`<div class="panel narrow">
<h1>${heading}</h1>
<p>${sentence}</p>
<p><a href="/">To the front page</a></p>
</div>`;
}
