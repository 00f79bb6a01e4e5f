import { html } from '../../../http/html.ts';
import { folded } from '../../../http/visible-text.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { searchField } from '../kit/filters.ts';
import { type Column, listTable } from '../kit/table.ts';
import { pathOf } from '../paths.ts';
import type { ConsoleSources, Sources } from '../sources.ts';
import { countColumn, nameColumn, stateColumn } from './columns.ts';
import { rankOf } from './find.ts';
import { freshness, listRows } from './list-rows.ts';
import { appNow, memberNow } from './read-by-key.ts';
import { type AppRow, type MemberRow, nameOf, type Rows } from './rows.ts';

/** Members and apps as they are in memory, or a grant. */
type Hit = MemberRow | AppRow | { readonly id: string; readonly name: string };

/** Members and apps in one result, the best first. */
export async function searchPage(sources: ConsoleSources, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const q = query.q?.trim() ?? '';
  const known = await sources.directory.look();
  const isPartial = known.state === 'ready' && known.rows.partial;
  const rows = known.state === 'ready' && !isPartial ? known.rows : undefined;
  const exact = await exactly(sources, q, rows).catch((thrown: unknown) => {
    if (rows === undefined) throw thrown;
    return [];
  });
  const typed = folded(q);
  // An exact ID is worth no search of a large store.
  const isFound = isPartial && exact.length > 0;
  const view = isFound ? known : await sources.directory.find(typed, known);
  const found =
    q !== '' &&
    !isFound &&
    (await listRows<MemberRow | AppRow>(view, query, {
      path: pathOf('search'),
      noun: 'result',
      all: function* ({ members, apps }) {
        yield* members.values();
        yield* apps.values();
      },
      keep: ({ text }) => rankOf(text, typed) !== undefined,
      // Of equal matches, the one with more grants is more likely meant.
      usual: { key: ({ text, grants }) => `${rankOf(text, typed)}${String(1e9 - grants).padStart(10, '0')}${text}` },
      now: (row) => ('hosts' in row ? appNow : memberNow)(sources, row.id),
      columns: COLUMNS,
      isSilent: exact.length > 0,
    }));
  const body = html`<form class="filter" role="search">
${searchField('Member or app', q)}
<button>Search</button>
</form>
${exact.length > 0 && html`<div class="card">${listTable({ label: 'Exact IDs', columns: COLUMNS, rows: exact })}</div>`}
${found}
${!isFound && freshness(view, sources.times)}`;
  return { title: q === '' ? 'Search' : `Search: ${q}`, body };
}

const COLUMNS: readonly Column<Hit>[] = [
  nameColumn('Name', (hit) => [pathOf(`${kindOf(hit)}s`, hit.id), nameOf(hit)]),
  { title: 'Kind', cell: (hit) => html`<span class="badge">${kindOf(hit)}</span>` },
  {
    title: 'Email or host',
    cell: (hit) => html`<bdi>${'hosts' in hit ? hit.hosts.join(', ') : 'email' in hit && hit.email}</bdi>`,
  },
  { title: 'ID', cell: ({ id }) => html`<code>${id}</code>` },
  stateColumn((hit) => 'state' in hit && hit.state),
  countColumn('Grants', (hit) => ('grants' in hit ? hit.grants : undefined)),
];

function kindOf(hit: Hit): 'app' | 'member' | 'grant' {
  return 'hosts' in hit ? 'app' : 'email' in hit ? 'member' : 'grant';
}

/** What has exactly this id in the store, and is not among the rows: they may not be read, or be older. */
async function exactly(
  sources: Sources<'grants' | 'store'>,
  id: string,
  rows: Rows | undefined,
): Promise<readonly Hit[]> {
  if (id === '') return [];
  const [member, app, grant] = await Promise.all([
    rows?.members.has(id) ? undefined : memberNow(sources, id),
    rows?.apps.has(id) ? undefined : appNow(sources, id),
    sources.grants.find(id),
  ]);
  const ofGrant = grant && { id, name: `${grant.member} – ${grant.clientId}` };
  return [member, app, ofGrant].filter((hit) => hit !== undefined);
}
