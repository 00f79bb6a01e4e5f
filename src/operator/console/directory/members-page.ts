import { counted } from '../../../http/amounts.ts';
import { html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { choice, searchField } from '../kit/filter-fields.ts';
import type { ListedRow } from '../kit/row-list.ts';
import { pathOf, pathOfMember } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { freshness } from './freshness.ts';
import { listRows } from './list-rows.ts';
import { folded, type MemberRow } from './rows.ts';

export async function membersPage(
  { directory, times }: ConsoleSources,
  { query }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { q = '', state, sort } = query;
  const view = await directory.look();
  const typed = folded(q);
  const list = await listRows<MemberRow>(view, query, {
    path: pathOf('members'),
    noun: 'member',
    all: ({ members }) => members.values(),
    keep: ({ text, suspended }) => text.includes(typed) && (state !== 'suspended' || suspended),
    orders: { name: { key: ({ text }) => text }, grants: { key: ({ grants }) => grants, descending: true } },
    item: memberItem,
  });
  const body = html`<form class="filter">
${searchField('Part of a name, email address or ID', q)}
${choice('state', 'Show', { '': 'All members', suspended: 'Suspended members' }, state)}
${choice('sort', 'Sort by', { '': 'Name', grants: 'Most grants' }, sort)}
<button>Show</button>
</form>
${list}
${freshness(view, times)}`;
  return { body };
}

export function memberItem({ id, name, email, suspended, grants }: MemberRow): ListedRow {
  return {
    href: pathOfMember(id),
    name: name ?? email ?? id,
    badges: [suspended && html`<span class="badge bad">suspended</span>`],
    about: [name !== undefined && email, html`<code>${id}</code>`, counted(grants, 'grant')],
  };
}
