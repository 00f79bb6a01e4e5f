// What the pages about apps, members and grants have in common.

import { TIME_UNITS } from '../../authorization-server/pages/dates.ts';
import type { Translatable } from '../../config/pages.ts';
import { type Html, type HtmlValue, html } from '../../http/html.ts';
import type { ConsoleRequest } from '../console-route.ts';
import { ROOT } from '../frame.ts';
import type { DirectoryDeps } from './deps.ts';
import type { DirectoryView } from './directory.ts';
import type { Found } from './find.ts';

/** A path of the console. Ids may be URLs: each part is percent-encoded. */
export function pathOf(...parts: readonly string[]): string {
  return [ROOT, ...parts.map(encodeURIComponent)].join('/');
}

export const pathOfMember = (id: string) => pathOf('members', id);
export const pathOfApp = (id: string) => pathOf('apps', id);
export const pathOfGrant = (id: string) => pathOf('grants', id);

/** Adds a query, without empty values. */
export function withQuery(path: string, query: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** Dates of the console: English, in the time zone of the school. All functions take Unix seconds. */
export function datesOf({ timeZone, clock }: Pick<DirectoryDeps, 'timeZone' | 'clock'>) {
  const zone = { timeZone, day: 'numeric', month: 'short', year: 'numeric' } as const;
  const moment = new Intl.DateTimeFormat('en-GB', {
    ...zone,
    ...{ hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' },
  });
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always' });
  const ago = (seconds: number): string => {
    const passed = clock() / 1000 - seconds;
    const [unit, length] = TIME_UNITS.find(([, length]) => Math.abs(passed) >= length) ?? [];
    return unit === undefined ? 'just now' : relative.format(-Math.trunc(passed / length), unit);
  };
  const marked = (seconds: number, text: string, title?: string) =>
    html`<time datetime="${new Date(seconds * 1000).toISOString()}"${title !== undefined && html` title="${title}"`}>${text}</time>`;
  return {
    moment: (seconds: number): Html => marked(seconds, moment.format(seconds * 1000)),
    /** "5 minutes ago", with the date and time for those who point at it. */
    ago: (seconds: number): Html => marked(seconds, ago(seconds), moment.format(seconds * 1000)),
    both: (seconds: number): Html =>
      html`${marked(seconds, moment.format(seconds * 1000))} <span class="muted">(${ago(seconds)})</span>`,
  };
}

export type ConsoleDates = ReturnType<typeof datesOf>;

/** What a scope allows, in English if there is a choice. */
export function scopeTitle(scopes: DirectoryDeps['scopes'], token: string): string {
  const title: Translatable | undefined = scopes[token]?.title;
  if (title === undefined || typeof title === 'string') return title ?? token;
  return title.en ?? Object.values(title).find((text) => text !== undefined) ?? token;
}

/** Whether one of these scopes lets an app change something. */
export function canChange(scopes: DirectoryDeps['scopes'], tokens: readonly string[]): boolean {
  return tokens.some((token) => scopes[token]?.kind === 'write');
}

export const CHANGES = html`<span class="badge warn">can make changes</span>`;

/** A definition list without the facts that are unknown. */
export function facts(entries: readonly (readonly [name: string, value: HtmlValue])[]): Html {
  const known = entries.filter(([, value]) => value !== undefined && value !== '');
  return html`<dl class="facts">
${known.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

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
  { rows, total, previous, next }: Found<T>,
  row: (row: T) => ListedRow,
  { noun, path, query }: { readonly noun: string; readonly path: string; readonly query: ConsoleRequest['query'] },
): Html {
  const to = (place: string) => withQuery(path, { ...query, place });
  if (total === 0) return html`<p>No ${noun}s match.</p>`;
  return html`<p class="muted" role="status">${counted(total, noun)}${total > rows.length && `, of which ${rows.length} are shown here`}</p>
<div class="card">${listOf(rows.map(row))}</div>
${(previous ?? next) !== undefined && html`<nav class="pager" aria-label="Pages">${previous !== undefined && html`<a href="${to(previous)}" rel="prev">Previous page</a> `}${next !== undefined && html`<a href="${to(next)}" rel="next">Next page</a>`}</nav>`}`;
}

export function counted(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

/** Says what the list is made from: how much is read, how old it is, and whether it is complete. */
export function freshness(view: DirectoryView, dates: ConsoleDates): Html {
  if (view.state === 'reading')
    return html`<p class="notice" role="status">Reading the store: ${Math.floor(view.share * 100)}% done. Reload this page in a few seconds. Exact IDs are found already.</p>`;
  return html`<p class="muted small">Read from the store ${dates.ago(Math.floor(view.readAt / 1000))}.${view.rows.partial && ' The store has more than is listed here: search for exact IDs to find the rest.'}</p>`;
}

/** A select of a filter form. */
export function choice(
  name: string,
  label: string,
  options: Readonly<Record<string, string>>,
  chosen: string | undefined,
): Html {
  return html`<div><label for="${name}">${label}</label>
<select id="${name}" name="${name}">${Object.entries(options).map(
    ([value, text]) => html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${text}</option>`,
  )}</select></div>`;
}

export function searchField(label: string, value: string | undefined): Html {
  return html`<div class="wide"><label for="q">${label}</label>
<input id="q" type="search" name="q" value="${value ?? ''}" maxlength="200"></div>`;
}
