import { type Html, html } from '../../../http/html.ts';

/** In: a heading and a sentence. Out: the main part of a page that has nothing else to say. */
export function messagePage(heading: string, sentence: string): Html {
  return html`<div class="panel narrow">
<h1>${heading}</h1>
<p>${sentence}</p>
<p><a href="/">To the front page</a></p>
</div>`;
}
