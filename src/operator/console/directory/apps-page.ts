import { type Html, html } from '../../../http/html.ts';
import { folded } from '../../../http/visible-text.ts';
import { unixSeconds } from '../../../storage/store.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { filterLinks, searchForm } from '../kit/filters.ts';
import type { Column } from '../kit/table.ts';
import { pathOf, pathOfApp } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { appUses } from './app-use.ts';
import { changeColumn, countColumn, nameColumn, stateColumn, usedColumn } from './columns.ts';
import { usedLike, useFilters } from './filters.ts';
import { freshness, listRows } from './list-rows.ts';
import { appNow } from './read-by-key.ts';
import { registrationLine } from './registration-line.ts';
import { type AppRow, emptyRows, nameOf } from './rows.ts';

const PATH = pathOf('apps');
const KINDS = [
  ['', 'All'],
  ['registered', 'Registered'],
  ['document', 'Metadata document'],
  ['disabled', 'Disabled'],
] as const;

export async function appsPage(sources: ConsoleSources, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { q = '', kind = '' } = query;
  const { clock, directory, scopes, times } = sources;
  const isUsed = usedLike(query, unixSeconds(clock));
  const typed = folded(q);
  const view = await directory.find(typed);
  const rows = view.state === 'ready' ? view.rows : emptyRows();
  const uses = await appUses(rows, scopes);
  const isOfKind = (row: AppRow) => (kind === 'disabled' ? row.state === kind : kind === '' || row.kind === kind);
  const ofUse: readonly Column<AppRow>[] = [
    changeColumn((row) => uses.get(row)?.changes),
    countColumn('Members', (row) => uses.get(row)?.members.size ?? 0, 'members'),
    usedColumn(times.day, (row) => uses.get(row)),
  ];
  const list = await listRows<AppRow>(view, query, {
    path: PATH,
    noun: 'app',
    all: ({ apps }) => apps.values(),
    keep: (row) => row.text.includes(typed) && isOfKind(row) && (rows.partial || isUsed(uses.get(row))),
    now: ({ id }) => appNow(sources, id),
    columns: [...APP_COLUMNS, ...(rows.partial ? [countColumn('Grants', ({ grants }: AppRow) => grants)] : ofUse)],
    usual: rows.partial ? 'name' : '-members',
  });
  // The list is in memory: it is shown while the store is down, too.
  const registration = await registrationLine(sources).catch(
    () => html`<p class="notice">The store is unavailable.</p>`,
  );
  const body = html`${registration}
<div class="picks">${rows.partial ? html`<p class="muted small">There are too many grants to filter apps by their use.</p>` : useFilters(PATH, query)}${filterLinks({ label: 'Kind', name: 'kind', options: KINDS, path: PATH, query })}</div>
${searchForm('Part of a name, host or ID', query, ['power', 'unused', 'kind'])}
${list}
${freshness(view, times)}
<p class="actions"><a class="button danger" href="${pathOf('consent')}">Require consent again for all apps…</a></p>`;
  return { body };
}

const APP_COLUMNS: readonly Column<AppRow>[] = [
  nameColumn('App', (row) => [pathOfApp(row.id), nameOf(row)], { name: 'name', key: ({ text }) => text }),
  { title: 'Host', cell: ({ hosts }) => html`<bdi>${hosts.join(', ')}</bdi>` },
  { title: 'Verified', cell: verified },
  stateColumn(({ state }) => state),
];

/** A document proves its own domain, and not where codes are sent. */
function verified({ id, kind, hosts }: AppRow): Html {
  if (kind === 'unknown') return html`<span class="badge">no longer registered</span>`;
  if (kind === 'registered') return html`<span class="wide">no</span>`;
  const host = URL.parse(id)?.host ?? id;
  return hosts.every((one) => one === host)
    ? html`<span class="badge good">verified</span>`
    : html`<span class="badge warn">only <bdi>${host}</bdi></span>`;
}
