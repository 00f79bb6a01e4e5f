import { type Html, type HtmlValue, html } from '../../../http/html.ts';

/** A definition list without the facts that are unknown. */
export function facts(entries: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  const known = entries.filter(([, value]) => value !== undefined && value !== false && value !== '');
  return html`<dl class="facts">
${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}
