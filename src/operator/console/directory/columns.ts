import { html } from '../../../http/html.ts';
import type { Column, Sort } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import type { Use } from './filters.ts';
import { NOT_CONNECTED } from './not-connected.ts';
import { CHANGES } from './scopes.ts';

/** The columns that the lists have in common. */
type Cell<Row, T> = (row: Row) => T | undefined;

/** The first column, which leads to the page of the row. */
export function nameColumn<Row>(
  title: string,
  href: (row: Row) => string,
  name: (row: Row) => string,
  sort?: Sort<Row>,
): Column<Row> {
  return { title, cell: (row) => html`<a class="name" href="${href(row)}"><bdi>${name(row)}</bdi></a>`, sort };
}

export function changeColumn<Row>(changes: Cell<Row, boolean>): Column<Row> {
  return { title: 'Can change', cell: (row) => changes(row) && CHANGES };
}

/** Says only what is out of the ordinary: suspended, disabled. */
export function stateColumn<Row>(state: Cell<Row, string | false>): Column<Row> {
  return { title: 'State', cell: (row) => state(row) && html`<span class="badge bad">${state(row)}</span>` };
}

export function countColumn<Row>(title: string, count: Cell<Row, number>, sort?: string): Column<Row> {
  return {
    ...{ title, phone: title, isNumber: true, cell: (row) => count(row)?.toLocaleString('en') },
    sort: sort === undefined ? undefined : { name: sort, key: (row) => count(row) ?? 0, descending: true },
  };
}

/** When it was granted (Unix seconds), as a link to the grant unless the row leads there. */
export function grantedColumn<Row>(times: Times, granted: (row: Row) => number, href?: Cell<Row, string>): Column<Row> {
  const ago = (row: Row) => times.ago(granted(row) * 1000);
  return {
    ...{ title: 'Granted', phone: 'Granted' },
    cell: (row) => (href === undefined ? ago(row) : html`<a href="${href(row)}">${ago(row)}</a>`),
    sort: { name: 'granted', key: granted, descending: true },
  };
}

/** When it was last used (Unix seconds), which is known to the day; no text for what has no grant. */
export function usedColumn<Row>(times: Times, use: Cell<Row, Pick<Use, 'lastUsedAt' | 'redeemed'>>): Column<Row> {
  return {
    ...{ title: 'Last used', phone: 'Used' },
    cell: (row) => {
      const used = use(row);
      if (used?.lastUsedAt !== undefined) return times.day(used.lastUsedAt * 1000);
      return used && (used.redeemed ? 'never' : NOT_CONNECTED);
    },
    sort: { name: 'used', key: (row) => use(row)?.lastUsedAt ?? 0, descending: true },
  };
}
