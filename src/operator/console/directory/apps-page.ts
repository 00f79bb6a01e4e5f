import { counted } from '../../../http/amounts.ts';
import { html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { choice, searchField } from '../kit/filter-fields.ts';
import type { ListedRow } from '../kit/row-list.ts';
import { pathOf, pathOfApp } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { freshness } from './freshness.ts';
import { listRows } from './list-rows.ts';
import { registrationLine } from './registration-page.ts';
import { type AppRow, folded } from './rows.ts';

const KINDS = {
  '': 'All apps',
  registered: 'Registered apps',
  document: 'Apps with a metadata document',
  disabled: 'Disabled apps',
};

export async function appsPage(
  sources: Sources<'controls' | 'directory' | 'takesNewApps' | 'times'>,
  { query }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { q = '', kind = '', sort } = query;
  const view = await sources.directory.look();
  const typed = folded(q);
  const isOfKind = (row: AppRow) => (kind === 'disabled' ? row.disabled : kind === '' || row.kind === kind);
  const list = await listRows<AppRow>(view, query, {
    path: pathOf('apps'),
    noun: 'app',
    all: ({ apps }) => apps.values(),
    keep: (row) => row.text.includes(typed) && isOfKind(row),
    orders: { members: { key: ({ members }) => members, descending: true }, name: { key: ({ text }) => text } },
    item: appItem,
  });
  // The list is in memory: it is shown while the store is down, too.
  const registration = await registrationLine(sources).catch(
    () => html`<p class="notice">The store is unavailable.</p>`,
  );
  const body = html`${registration}
<form class="filter">
${searchField('Part of a name, host or ID', q)}
${choice('kind', 'Show', KINDS, kind)}
${choice('sort', 'Sort by', { '': 'Most members', name: 'Name' }, sort)}
<button>Show</button>
</form>
${list}
${freshness(view, sources.times)}
<p class="actions"><a class="button danger" href="${pathOf('consent')}">Require consent again for all apps…</a></p>`;
  return { body };
}

export function appItem({ id, name, kind, hosts, disabled, members }: AppRow): ListedRow {
  const proof = kind === 'document' ? `metadata at ${URL.parse(id)?.host ?? id}` : html`<code>${id}</code>`;
  return {
    href: pathOfApp(id),
    name: name ?? id,
    badges: [
      disabled && html`<span class="badge bad">disabled</span>`,
      kind === 'unknown' && html`<span class="badge">no longer registered</span>`,
    ],
    about: [hosts.length > 0 && html`<bdi>${hosts.join(', ')}</bdi>`, proof, counted(members, 'member')],
  };
}
