import { counted } from '../../../http/amounts.ts';
import { type Html, type HtmlValue, html } from '../../../http/html.ts';
import type { ConsoleRequest } from '../console-page.ts';
import type { FoundRows } from '../directory/find.ts';
import { withQuery } from '../paths.ts';

export interface ListedRow {
  readonly href: string;
  readonly name: string;
  readonly badges?: readonly (Html | false | undefined)[];
  /** What else is worth knowing, in short phrases. */
  readonly about: readonly (HtmlValue | false)[];
  /** A link or form at the end of the row. */
  readonly action?: Html | undefined;
}

export function listOf(rows: readonly ListedRow[]): Html {
  return html`<ul class="rows">
${rows.map(
  ({ href, name, badges = [], about, action }) => html`<li>
<div><a class="name" href="${href}"><bdi>${name}</bdi></a> ${badges.map((badge) => html`${badge} `)}
<p class="muted">${about.filter((one) => one !== undefined && one !== false).map((one) => html`<span>${one}</span> `)}</p></div>
${action}</li>
`,
)}</ul>`;
}

/** How many rows match, the rows of this page, and links to the pages around it. */
export function foundList<T>(
  { rows, total, previous, next }: FoundRows<T>,
  row: (row: T) => ListedRow,
  { noun, path, query }: { readonly noun: string; readonly path: string; readonly query: ConsoleRequest['query'] },
): Html {
  const to = (place: string) => withQuery(path, { ...query, place });
  if (total === 0) return html`<p>No ${noun}s match.</p>`;
  return html`<p class="muted" role="status">${counted(total, noun)}${total > rows.length && `, of which ${rows.length} are shown here`}</p>
<div class="card">${listOf(rows.map(row))}</div>
${(previous ?? next) !== undefined && html`<nav class="pager" aria-label="Pages">${previous !== undefined && html`<a href="${to(previous)}" rel="prev">Previous page</a> `}${next !== undefined && html`<a href="${to(next)}" rel="next">Next page</a>`}</nav>`}`;
}
