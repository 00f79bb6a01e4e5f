import { findApp } from '../../../authorization-server/administration/stored-app.ts';
import { storedMembers } from '../../../authorization-server/members.ts';
import { html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { searchField } from '../kit/filter-fields.ts';
import { type Column, listTable } from '../kit/table.ts';
import { pathOf, pathOfApp, pathOfGrant, pathOfMember } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { countColumn, nameColumn, stateColumn } from './columns.ts';
import { rankOf } from './find.ts';
import { freshness } from './freshness.ts';
import { listRows } from './list-rows.ts';
import { type AppRow, folded, type MemberRow, type Rows } from './rows.ts';

type Hit = MemberRow | AppRow;

/** Members and apps in one result, the best first. */
export async function searchPage(
  sources: Sources<'directory' | 'grants' | 'store' | 'times'>,
  { query }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const q = query.q?.trim() ?? '';
  const view = await sources.directory.look();
  const exact = await exactly(sources, q, view.state === 'ready' ? view.rows : undefined).catch((thrown: unknown) => {
    if (view.state === 'reading') throw thrown;
    return [];
  });
  const typed = folded(q);
  const found =
    q !== '' &&
    (await listRows<Hit>(view, query, {
      path: pathOf('search'),
      noun: 'result',
      all: function* ({ members, apps }) {
        yield* members.values();
        yield* apps.values();
      },
      keep: ({ text }) => rankOf(text, typed) !== undefined,
      // Of equal matches, the one with more grants is more likely meant.
      usual: { key: ({ text, grants }) => `${rankOf(text, typed)}${String(1e9 - grants).padStart(10, '0')}${text}` },
      columns: columnsOf(itemOf),
      isSilent: exact.length > 0,
    }));
  const body = html`<form class="filter" role="search">
${searchField('Member or app', q)}
<button>Search</button>
</form>
${exact.length > 0 && html`<div class="card">${listTable({ label: 'Exact IDs', columns: columnsOf((row: Item) => row), rows: exact })}</div>`}
${found}
${freshness(view, sources.times)}`;
  return { title: q === '' ? 'Search' : `Search: ${q}`, body };
}

/** A result in words. */
interface Item {
  readonly href: string;
  readonly name: string;
  readonly kind: 'member' | 'app' | 'grant';
  readonly about?: string | undefined;
  readonly id: string;
  readonly state?: string | false;
  readonly grants?: number;
}

function columnsOf<T>(item: (row: T) => Item): readonly Column<T>[] {
  return [
    nameColumn(
      'Name',
      (row) => item(row).href,
      (row) => item(row).name,
    ),
    { title: 'Kind', cell: (row) => html`<span class="badge">${item(row).kind}</span>` },
    { title: 'Email or host', cell: (row) => html`<bdi>${item(row).about}</bdi>` },
    { title: 'ID', cell: (row) => html`<code>${item(row).id}</code>` },
    stateColumn((row) => item(row).state),
    countColumn('Grants', (row) => item(row).grants),
  ];
}

function itemOf(hit: Hit): Item {
  const { id, grants } = hit;
  return 'hosts' in hit
    ? {
        ...{ id, grants, kind: 'app', href: pathOfApp(id), name: hit.name ?? id },
        ...{ about: hit.hosts.join(', '), state: hit.disabled && 'disabled' },
      }
    : {
        ...{ id, grants, kind: 'member', href: pathOfMember(id), name: hit.name ?? hit.email ?? id },
        ...{ about: hit.name && hit.email, state: hit.suspended && 'suspended' },
      };
}

/** What has exactly this id in the store, and is not among the rows: they may not be read, or be older. */
async function exactly(
  sources: Sources<'grants' | 'store'>,
  id: string,
  rows: Rows | undefined,
): Promise<readonly Item[]> {
  if (id === '') return [];
  const [member, app, grant] = await Promise.all([
    rows?.members.has(id) ? undefined : storedMembers(sources.store).find(id),
    rows?.apps.has(id) ? undefined : findApp(sources.store, id),
    sources.grants.find(id),
  ]);
  return [
    ...(member === undefined
      ? []
      : [{ id, kind: 'member', href: pathOfMember(id), name: member.name ?? member.email ?? id } as const]),
    ...(app === undefined ? [] : [{ id, kind: 'app', href: pathOfApp(id), name: app.name ?? id } as const]),
    ...(grant === undefined
      ? []
      : [{ id, kind: 'grant', href: pathOfGrant(id), name: `${grant.member} – ${grant.clientId}` } as const]),
  ];
}
