import { html } from '../../../http/html.ts';
import type { Column, Sort } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import type { Use } from './filters.ts';
import { CHANGES } from './scopes.ts';

/** Instead of the last use: the member approved the app, and it never redeemed its code, so nothing is connected. */
export const NOT_CONNECTED = html`<span class="badge warn">never fetched its token</span>`;

/** The columns that the lists have in common. */
type Cell<Row, T> = (row: Row) => T | undefined;

/** The first column, which leads to the page of the row. */
export function nameColumn<Row>(
  title: string,
  link: (row: Row) => readonly [href: string, name: string],
  sort?: Sort<Row>,
): Column<Row> {
  const cell = (row: Row) => {
    const [href, name] = link(row);
    return html`<a class="name" href="${href}"><bdi>${name}</bdi></a>`;
  };
  return { title, cell, sort };
}

export function changeColumn<Row>(changes: Cell<Row, boolean>): Column<Row> {
  return { title: 'Can change', cell: (row) => changes(row) && CHANGES };
}

/** Says only what is out of the ordinary. */
export function stateColumn<Row>(state: Cell<Row, string | false>): Column<Row> {
  return { title: 'State', cell: (row) => state(row) && html`<span class="badge bad">${state(row)}</span>` };
}

export function countColumn<Row>(title: string, count: Cell<Row, number>, sort?: string): Column<Row> {
  return {
    ...{ title, phone: title, isNumber: true, cell: (row) => count(row)?.toLocaleString('en') },
    sort: sort === undefined ? undefined : { name: sort, key: (row) => count(row) ?? 0, descending: true },
  };
}

/** When it was granted (Unix seconds). */
export function grantedColumn<Row extends { readonly grantedAt: number }>(
  times: Times,
  href?: (row: Row) => string,
): Column<Row> {
  return {
    ...{ title: 'Granted', phone: 'Granted' },
    cell: (row) => {
      const ago = times.ago(row.grantedAt * 1000);
      return href === undefined ? ago : html`<a href="${href(row)}">${ago}</a>`;
    },
    sort: { name: 'granted', key: ({ grantedAt }) => grantedAt, descending: true },
  };
}

/**
 * When it was last used (Unix seconds); no text for what has no grant.
 *
 * @param shown - `times.day` for what is known to the day, `times.ago` for what is exact
 */
export function usedColumn<Row>(
  shown: Times['day'],
  use: Cell<Row, Pick<Use, 'lastUsedAt' | 'redeemed'>>,
): Column<Row> {
  return {
    ...{ title: 'Last used', phone: 'Used' },
    cell: (row) => {
      const used = use(row);
      if (used?.lastUsedAt !== undefined) return shown(used.lastUsedAt * 1000);
      return used && (used.redeemed ? 'never' : NOT_CONNECTED);
    },
    sort: { name: 'used', key: (row) => use(row)?.lastUsedAt ?? 0, descending: true },
  };
}
