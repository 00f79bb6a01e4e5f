import { type Html, html } from '../../../http/html.ts';

interface Choice {
  readonly href: string;
  readonly text: string;
  readonly chosen: boolean;
}

/** Links to the variants of a page, of which one is shown. */
export function choices(label: string, links: readonly Choice[]): Html {
  return html`<nav aria-label="${label}"><ul class="spans">${links.map(
    ({ href, text, chosen }) => html`<li><a href="${href}"${chosen && html` aria-current="page"`}>${text}</a></li>`,
  )}</ul></nav>`;
}
