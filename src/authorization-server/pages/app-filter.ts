import { type Html, html } from '../../http/html.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { Phrase, Words } from './words.ts';

/** How to search, narrow down and sort the connected apps. */
export interface AppFilter {
  /** The text that was searched for; '' for none. */
  readonly q: string;
  /** What a search keeps: the name and value of each parameter. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly shows: readonly (Choice & { readonly show: 'all' | 'change' | 'unused'; readonly count: number })[];
  readonly sorts: readonly (Choice & { readonly sort: keyof typeof SORTS })[];
  /** The list of all apps; undefined if it is shown. */
  readonly everything: string | undefined;
}

interface Choice {
  readonly href: string;
  readonly current: boolean;
}

const SORTS = { used: 'apps.used', name: 'apps.sort.name', connected: 'apps.connected' } as const satisfies Record<
  string,
  Phrase
>;

/** Which apps: a search, and the groups that are not empty. */
export function appSearch(words: Words, { q, fields, shows }: AppFilter): Html {
  const offered = shows.filter(({ count, current }) => count > 0 || current);
  return html`<search><form method="get" action="${ENDPOINTS.apps}" class="search">
${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<input type="search" name="q" value="${q}" maxlength="100" autocomplete="off" dir="auto" aria-label="${words.text('apps.search')}" placeholder="${words.text('apps.search')}">
<button type="submit">${words.html('apps.search.go')}</button>
</form></search>
${offered.length > 1 && html`<nav class="choices" aria-label="${words.text('apps.show')}">${offered.map((one) => choice(one, words.html(`apps.show.${one.show}`, { count: one.count })))}</nav>`}`;
}

/** In which order. */
export function appOrder(words: Words, { sorts }: AppFilter): Html {
  return html`<nav class="choices order" aria-labelledby="order"><span id="order">${words.html('apps.sort')}</span>
${sorts.map((one) => choice(one, words.html(SORTS[one.sort])))}</nav>`;
}

function choice({ href, current }: Choice, label: Html): Html {
  return html`<a href="${href}"${current && html` aria-current="true"`}>${label}</a>
`;
}
