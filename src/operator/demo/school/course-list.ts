import { type Html, html } from '../../../http/html.ts';
import type { Course } from './data/school-data.ts';

const PER_PAGE = 12;

/** A course in a list, with what `details` says about it. */
export function courseCard({ slug, title }: Course, details: Html): Html {
  return html`<li>
<h2><a href="/courses/${slug}">${title}</a></h2>
${details}
</li>
`;
}

/** The items on the page of a list that `requested` names, or on the nearest one, with links to its neighbours. */
export function pageOfList<T>(items: readonly T[], requested: unknown, path: string) {
  const last = Math.max(1, Math.ceil(items.length / PER_PAGE));
  const wanted = /^\d{1,6}$/.test(String(requested)) ? Number(requested) : 1;
  const page = Math.min(Math.max(wanted, 1), last);
  const links = html`<nav class="pages" aria-label="Pages">
${page > 1 && html`<a rel="prev" href="${path}?page=${page - 1}">Previous</a>`}
<span>Page ${page} of ${last}</span>
${page < last && html`<a rel="next" href="${path}?page=${page + 1}">Next</a>`}
</nav>`;
  return { shown: items.slice((page - 1) * PER_PAGE, page * PER_PAGE), links: last > 1 && links };
}
