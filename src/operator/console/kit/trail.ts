import { type Html, type HtmlValue, html } from '../../../http/html.ts';

/** Something that happened. */
export interface TrailItem {
  /** When, and what. */
  readonly head: HtmlValue;
  /** What else is known, in short phrases. */
  readonly about: readonly HtmlValue[];
  /** Its class: `bad` or `warn`. */
  readonly look?: string;
}

/** What happened, one thing after the other, without the phrases that are unknown. */
export function trailList(items: readonly TrailItem[]): Html {
  return html`<ol class="trail">
${items.map(({ head, about, look }) => {
  const known = about.filter((part) => part !== undefined && part !== false);
  return html`<li${look !== undefined && html` class="${look}"`}><p>${head}</p>
${known.length > 0 && html`<p class="muted">${known.map((part) => html`<span>${part}</span> `)}</p>`}</li>
`;
})}</ol>`;
}
