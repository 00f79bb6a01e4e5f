import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { Words } from './words.ts';

/** The first items, and the others, which are folded away. A single one is shown rather than folded. */
export function fold<Item>(items: readonly Item[], most: number) {
  const shown = items.length === most + 1 ? items.length : most;
  return { shown: items.slice(0, shown), rest: items.slice(shown) };
}

/** The first items, and how many more there are. */
export function inBrief(words: Words, items: readonly Html[], most: number): readonly Html[] {
  const { shown, rest } = fold(items, most);
  return rest.length === 0 ? shown : [...shown, words.html('apps.others', { count: rest.length })];
}

/** The items in a line. */
export function joined(items: readonly HtmlValue[], separator: string): Html {
  return html`${items.map((item, at) => html`${at > 0 && separator}${item}`)}`;
}
