import { type Html, html } from '../../../http/html.ts';
import { unixSeconds } from '../../../storage/store.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { choice, searchField } from '../kit/filter-fields.ts';
import { keptFields } from '../kit/filter-links.ts';
import type { Column } from '../kit/table.ts';
import { pathOf, pathOfApp } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { appUses } from './app-use.ts';
import { lastUse, type Use, usedLike, useFilters } from './filters.ts';
import { freshness } from './freshness.ts';
import { listRows } from './list-rows.ts';
import { registrationLine } from './registration-page.ts';
import { type AppRow, folded } from './rows.ts';
import { CHANGES } from './scopes.ts';

const PATH = pathOf('apps');
const KINDS = {
  '': 'All apps',
  registered: 'Registered apps',
  document: 'Apps with a metadata document',
  disabled: 'Disabled apps',
};

export async function appsPage(
  sources: Sources<'clock' | 'controls' | 'directory' | 'scopes' | 'takesNewApps' | 'times'>,
  { query }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { q = '', kind = '' } = query;
  const { clock, directory, scopes, times } = sources;
  const isUsed = usedLike(query, unixSeconds(clock));
  const view = await directory.look();
  const uses = view.state === 'ready' ? await appUses(view.rows, scopes) : new Map<AppRow, Use>();
  const typed = folded(q);
  const isOfKind = (row: AppRow) => (kind === 'disabled' ? row.disabled : kind === '' || row.kind === kind);
  const list = await listRows<AppRow>(view, query, {
    path: PATH,
    noun: 'app',
    all: ({ apps }) => apps.values(),
    keep: (row) => row.text.includes(typed) && isOfKind(row) && isUsed(uses.get(row)),
    columns: [
      ...APP_COLUMNS,
      {
        title: 'Can change',
        cell: (row) => uses.get(row)?.changes && CHANGES,
        sort: { name: 'change', key: (row) => Number(uses.get(row)?.changes ?? false), descending: true },
      },
      MEMBERS,
      {
        title: 'Last used',
        cell: (row) => lastUse(uses.get(row), times),
        isLabelled: true,
        sort: { name: 'used', key: (row) => uses.get(row)?.lastUsedAt ?? 0, descending: true },
      },
    ],
    usual: '-members',
  });
  // The list is in memory: it is shown while the store is down, too.
  const registration = await registrationLine(sources).catch(
    () => html`<p class="notice">The store is unavailable.</p>`,
  );
  const body = html`${registration}
${useFilters(PATH, query)}
<form class="filter">
${searchField('Part of a name, host or ID', q)}
${choice('kind', 'Show', KINDS, kind)}
${keptFields(query, ['power', 'unused', 'sort'])}
<button>Show</button>
</form>
${list}
${freshness(view, times)}
<p class="actions"><a class="button danger" href="${pathOf('consent')}">Require consent again for all apps…</a></p>`;
  return { body };
}

const MEMBERS: Column<AppRow> = {
  title: 'Members',
  cell: ({ members }) => members.toLocaleString('en'),
  isNumber: true,
  isLabelled: true,
  sort: { name: 'members', key: ({ members }) => members, descending: true },
};

const APP_COLUMNS: readonly Column<AppRow>[] = [
  {
    title: 'App',
    cell: ({ id, name }) => html`<a class="name" href="${pathOfApp(id)}"><bdi>${name ?? id}</bdi></a>`,
    sort: { name: 'name', key: ({ text }) => text },
  },
  { title: 'Host', cell: ({ hosts }) => html`<bdi>${hosts.join(', ')}</bdi>` },
  { title: 'Verified', cell: verified },
  {
    title: 'State',
    cell: ({ disabled, kind }) =>
      disabled
        ? html`<span class="badge bad">disabled</span>`
        : kind === 'unknown' && html`<span class="badge">no longer registered</span>`,
  },
];

/** A document proves its own domain, and not where codes are sent. */
function verified({ id, kind, hosts }: AppRow): Html | false {
  if (kind !== 'document') return kind === 'registered' && html`no`;
  const host = URL.parse(id)?.host ?? id;
  return hosts.every((one) => one === host)
    ? html`<span class="badge good">yes</span>`
    : html`<span class="badge warn">only <bdi>${host}</bdi></span>`;
}
