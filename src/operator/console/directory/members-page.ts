import { html } from '../../../http/html.ts';
import { folded } from '../../../http/visible-text.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { filterLinks, searchForm } from '../kit/filters.ts';
import type { Column } from '../kit/table.ts';
import { pathOf, pathOfMember } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { countColumn, nameColumn, stateColumn } from './columns.ts';
import { freshness, listRows } from './list-rows.ts';
import { memberNow } from './read-by-key.ts';
import { type MemberRow, nameOf } from './rows.ts';

const PATH = pathOf('members');
const STATES = [
  ['', 'All'],
  ['suspended', 'Suspended'],
] as const;

export async function membersPage(sources: ConsoleSources, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { q = '', state } = query;
  const typed = folded(q);
  const view = await sources.directory.find(typed);
  const list = await listRows<MemberRow>(view, query, {
    path: PATH,
    noun: 'member',
    all: ({ members }) => members.values(),
    keep: (row) => row.text.includes(typed) && (state !== 'suspended' || row.state === state),
    now: ({ id }) => memberNow(sources, id),
    columns: [
      ...MEMBER_COLUMNS,
      countColumn('Grants', ({ grants }) => grants, view.state === 'ready' && view.rows.partial ? undefined : 'grants'),
    ],
    usual: 'name',
  });
  const body = html`<div class="picks">${filterLinks({ label: 'State', name: 'state', options: STATES, path: PATH, query })}</div>
${searchForm('Part of a name, email address or ID', query, ['state'])}
${list}
${freshness(view, sources.times)}`;
  return { body };
}

const MEMBER_COLUMNS: readonly Column<MemberRow>[] = [
  nameColumn('Member', (row) => [pathOfMember(row.id), nameOf(row)], { name: 'name', key: ({ text }) => text }),
  { title: 'Email', cell: ({ email }) => email !== undefined && html`<bdi>${email}</bdi>` },
  { title: 'ID', cell: ({ id }) => html`<code>${id}</code>` },
  stateColumn(({ state }) => state),
];
