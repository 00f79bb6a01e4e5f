import { html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { choice, searchField } from '../kit/filter-fields.ts';
import { keptFields } from '../kit/filter-links.ts';
import type { Column } from '../kit/table.ts';
import { pathOf, pathOfMember } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { countColumn, nameColumn, stateColumn } from './columns.ts';
import { freshness } from './freshness.ts';
import { listRows } from './list-rows.ts';
import { folded, type MemberRow } from './rows.ts';

export async function membersPage(
  { directory, times }: ConsoleSources,
  { query }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { q = '', state } = query;
  const view = await directory.look();
  const typed = folded(q);
  const list = await listRows<MemberRow>(view, query, {
    path: pathOf('members'),
    noun: 'member',
    all: ({ members }) => members.values(),
    keep: ({ text, suspended }) => text.includes(typed) && (state !== 'suspended' || suspended),
    columns: MEMBER_COLUMNS,
    usual: 'name',
  });
  const body = html`<form class="filter">
${searchField('Part of a name, email address or ID', q)}
${choice('state', 'Show', { '': 'All members', suspended: 'Suspended members' }, state)}
${keptFields(query, ['sort'])}
<button>Show</button>
</form>
${list}
${freshness(view, times)}`;
  return { body };
}

const MEMBER_COLUMNS: readonly Column<MemberRow>[] = [
  nameColumn(
    'Member',
    ({ id }) => pathOfMember(id),
    ({ id, name, email }) => name ?? email ?? id,
    { name: 'name', key: ({ text }) => text },
  ),
  { title: 'Email', cell: ({ email }) => email !== undefined && html`<bdi>${email}</bdi>` },
  { title: 'ID', cell: ({ id }) => html`<code>${id}</code>` },
  stateColumn(({ suspended }) => suspended && 'suspended'),
  countColumn('Grants', ({ grants }) => grants, 'grants'),
];
