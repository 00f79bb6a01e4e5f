import { type Html, html } from '../../http/html.ts';
import { appsPath, type CarriedParameters } from '../connected-apps/target.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { Words } from './words.ts';

/** How to search, narrow down and sort the connected apps. */
export interface AppFilter {
  /** What is shown, apart from the number of the page. */
  readonly asked: CarriedParameters;
  /** The number of apps in each group. */
  readonly counts: Readonly<Record<(typeof GROUPS)[number], number>>;
}

const GROUPS = ['all', 'change', 'unused'] as const;

/** Which apps: a search, and the groups that are not empty. */
export function appSearch(words: Words, { asked, counts }: AppFilter): Html {
  const { q = '', ...kept } = asked;
  const groups = GROUPS.map((name) => ({ name, show: name === 'all' ? undefined : name, count: counts[name] }));
  const offered = groups.filter(({ count, show }) => count > 0 || asked.show === show);
  return html`<search><form method="get" action="${ENDPOINTS.apps}" class="search">
${Object.entries(kept).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<input type="search" name="q" value="${q}" maxlength="100" autocomplete="off" dir="auto" aria-label="${words.text('apps.search')}" placeholder="${words.text('apps.search')}">
<button type="submit">${words.html('apps.search.go')}</button>
</form></search>
${offered.length > 1 && html`<nav class="choices" aria-label="${words.text('apps.show')}">${offered.map(({ name, show, count }) => choice(asked, 'show', show, words.html(`apps.show.${name}`, { count })))}</nav>`}`;
}

/** In which order. */
export function appOrder(words: Words, { asked }: AppFilter): Html {
  return html`<nav class="choices order" aria-labelledby="order"><span id="order">${words.html('apps.sort')}</span>
${choice(asked, 'sort', undefined, words.html('apps.used'))}${choice(asked, 'sort', 'name', words.html('apps.sort.name'))}${choice(asked, 'sort', 'connected', words.html('apps.connected'))}</nav>`;
}

function choice(asked: CarriedParameters, name: 'show' | 'sort', value: string | undefined, label: Html): Html {
  return html`<a href="${appsPath({ ...asked, [name]: value })}"${asked[name] === value && html` aria-current="true"`}>${label}</a>
`;
}
