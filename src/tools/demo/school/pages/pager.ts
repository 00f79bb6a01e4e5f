import { type Html, html } from '../../../../http/html.ts';

/** The part of a list that is shown on a page. */
export interface Shown<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly last: number;
  readonly total: number;
}

const PER_PAGE = 12;

/** The part to show for the requested page, or for the nearest existing one. */
export function shownPart<T>(items: readonly T[], requested: unknown): Shown<T> {
  const last = Math.max(1, Math.ceil(items.length / PER_PAGE));
  const wanted = typeof requested === 'string' && /^\d{1,6}$/.test(requested) ? Number(requested) : 1;
  const page = Math.min(Math.max(wanted, 1), last);
  return { items: items.slice((page - 1) * PER_PAGE, page * PER_PAGE), page, last, total: items.length };
}

/** Links to the neighbouring pages; undefined when there is only one page. */
export function pager({ page, last }: Shown<unknown>, path: string): Html {
  if (last === 1) return html``;
  return html`<nav class="pages" aria-label="Pages">
${page > 1 && html`<a rel="prev" href="${path}?page=${page - 1}">Previous</a>`}
<span>Page ${page} of ${last}</span>
${page < last && html`<a rel="next" href="${path}?page=${page + 1}">Next</a>`}
</nav>`;
}
