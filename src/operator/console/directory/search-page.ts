import { clientOf, findClient, metadataOf } from '../../../authorization-server/event-client.ts';
import { storedMembers } from '../../../authorization-server/members.ts';
import { html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-route.ts';
import type { DirectoryDeps } from './deps.ts';
import { searchField } from './filter-fields.ts';
import { pageOf, rankOf } from './find.ts';
import { freshness } from './freshness.ts';
import { appItem, memberItem, PAGE } from './lists.ts';
import { pathOf, pathOfApp, pathOfGrant, pathOfMember } from './paths.ts';
import { foundList, type ListedRow, listOf } from './row-list.ts';
import { type AppRow, folded, type MemberRow, type Rows } from './rows.ts';

type Hit = MemberRow | AppRow;

/** Members and apps in one result, the best first. */
export async function searchPage(deps: DirectoryDeps, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const q = query.q?.trim() ?? '';
  const view = await deps.directory.look();
  const exact = await exactly(deps, q, view.state === 'ready' ? view.rows : undefined).catch((thrown: unknown) => {
    if (view.state === 'reading') throw thrown;
    return [];
  });
  const found = view.state === 'ready' && q !== '' ? await best(view.rows, folded(q), query.place) : undefined;
  const body = html`<form class="filter" role="search">
${searchField('Member or app', q)}
<button>Search</button>
</form>
${exact.length > 0 && html`<div class="card">${listOf(exact)}</div>`}
${found !== undefined && (found.total > 0 || exact.length === 0) && foundList(found, itemOf, { noun: 'result', path: pathOf('search'), query })}
${freshness(view, deps.times)}`;
  return { section: 'overview', title: q === '' ? 'Search' : `Search: ${q}`, body };
}

async function best({ members, apps }: Rows, typed: string, cursor: string | undefined) {
  const all = function* (): Iterable<Hit> {
    yield* members.values();
    yield* apps.values();
  };
  return pageOf(all(), {
    keep: ({ text }) => rankOf(text, typed) !== undefined,
    // Of equal matches, the one with more grants is more likely meant.
    order: { key: ({ text, grants }) => `${rankOf(text, typed)}${String(1e9 - grants).padStart(10, '0')}${text}` },
    cursor,
    limit: PAGE,
  });
}

function itemOf(hit: Hit): ListedRow {
  const [item, kind] = 'hosts' in hit ? [appItem(hit), 'app'] : [memberItem(hit), 'member'];
  return { ...item, badges: [html`<span class="badge">${kind}</span>`, ...(item.badges ?? [])] };
}

/** What has exactly this id in the store, and is not among the rows: they may not be read, or be older. */
async function exactly(deps: DirectoryDeps, id: string, rows: Rows | undefined): Promise<readonly ListedRow[]> {
  if (id === '') return [];
  const [member, client, grant] = await Promise.all([
    rows?.members.has(id) ? undefined : storedMembers(deps.store).find(id),
    rows?.apps.has(id) ? undefined : findClient(deps.store, id),
    deps.grants.find(id),
  ]);
  const about = [html`<code>${id}</code>`];
  const row = (href: string, name: string, kind: string): ListedRow => ({
    ...{ href, name, about, badges: [html`<span class="badge">${kind}</span>`] },
  });
  return [
    ...(member === undefined ? [] : [row(pathOfMember(id), member.name ?? member.email ?? id, 'member')]),
    ...(client === undefined ? [] : [row(pathOfApp(id), clientOf(id, metadataOf(client)).clientName ?? id, 'app')]),
    ...(grant === undefined ? [] : [row(pathOfGrant(id), `${grant.member} – ${grant.clientId}`, 'grant')]),
  ];
}
