import { type Html, type HtmlValue, html } from '../../../http/html.ts';
import { withQuery } from '../paths.ts';

/** A column of `listTable`. */
export interface Column<Row> {
  readonly title: string;
  /** What stands in the row, on one line. The first column names the row. An empty cell takes no room on a phone. */
  readonly cell: (row: Row) => HtmlValue;
  readonly isNumber?: boolean;
  /** Takes the room that is left, and more lines if it is too long. By default no cell does, and each is cut. */
  readonly isWide?: boolean;
  /** What a phone, which shows no headings, shows before the value: `Members 12`. With false, it shows neither. */
  readonly phone?: string | false;
  /** Makes the heading a link that sorts by the column. */
  readonly sort?: Sort<Row> | undefined;
}

export interface Sort<Row> {
  /** The value of `sort` in the query; `-name` is the reverse order. */
  readonly name: string;
  readonly key: (row: Row) => string | number;
  /** Whether the first click on the heading shows the largest first. */
  readonly descending?: boolean;
}

interface ListView<Row> {
  /** What it shows: the text, or the id of the heading that says it. */
  readonly label: string | { readonly by: string };
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** The address of the page, and the order of the rows. Without it, no heading is a link. */
  readonly sorting?: { readonly path: string; readonly query: Readonly<Record<string, string>>; readonly sort: string };
}

/**
 * A list: one line for each row on a desktop, two short lines on a phone. It scrolls by itself where it is wider than the
 * page, also by keyboard.
 *
 * @example
 * const COLUMNS: readonly Column<AppRow>[] = [
 *   { title: 'App', cell: ({ id, name }) => html`<a href="${pathOfApp(id)}"><bdi>${name}</bdi></a>` },
 *   { title: 'Members', cell: ({ members }) => members, isNumber: true, phone: 'Members',
 *     sort: { name: 'members', key: ({ members }) => members, descending: true } },
 * ];
 * listTable({ label: 'Apps', columns: COLUMNS, rows, sorting: { path: pathOf('apps'), query, sort: '-members' } });
 */
export function listTable<Row>({ label, columns, rows, sorting }: ListView<Row>): Html {
  const named = typeof label === 'string' ? html`aria-label="${label}"` : html`aria-labelledby="${label.by}"`;
  return html`<div class="scroll" role="region" tabindex="0" ${named}><table class="list">
<thead><tr>${columns.map((column) => heading(column, sorting))}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${columns.map((column, at) => cellOf(column, row, at === 0))}</tr>\n`)}</tbody>
</table></div>`;
}

function heading<Row>({ title, isNumber, sort }: Column<Row>, sorting: ListView<Row>['sorting']): Html {
  const numeric = isNumber && html` class="number"`;
  if (sort === undefined || sorting === undefined) return html`<th scope="col"${numeric}>${title}</th>`;
  const { name, descending = false } = sort;
  const up = sorting.sort === name;
  const down = sorting.sort === `-${name}`;
  const next = up || (descending && !down) ? `-${name}` : name;
  const sorted = (up || down) && html` aria-sort="${up ? 'ascending' : 'descending'}"`;
  const href = withQuery(sorting.path, { ...sorting.query, sort: next, place: undefined });
  return html`<th scope="col"${numeric}${sorted}><a href="${href}">${title}</a></th>`;
}

function cellOf<Row>({ cell, isNumber, isWide, phone }: Column<Row>, row: Row, isFirst: boolean): Html {
  const value = html`${cell(row)}`;
  if (isFirst) return html`<th scope="row"${isWide && html` class="rest"`}>${value}</th>`;
  const shown = isNumber ? 'number' : isWide ? 'rest' : phone === false && 'wide';
  return html`<td${shown && html` class="${shown}"`}${phone && html` data-label="${phone}"`}>${value}</td>`;
}

/** A column of figures, which a phone shows with its title. */
export function figureColumn<Row>(title: string, cell: Column<Row>['cell']): Column<Row> {
  return { title, cell, isNumber: true, phone: title };
}

/** How to sort by the value of `sort` in the query; undefined if no column has that name. */
export function orderOf<Row>(columns: readonly Column<Row>[], sort: string): Omit<Sort<Row>, 'name'> | undefined {
  const name = sort.replace(/^-/, '');
  const found = columns.find((column) => column.sort?.name === name)?.sort;
  return found && { key: found.key, descending: sort !== name };
}
