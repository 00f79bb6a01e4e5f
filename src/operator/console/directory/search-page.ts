import { findApp } from '../../../authorization-server/administration/stored-app.ts';
import { storedMembers } from '../../../authorization-server/members.ts';
import { html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { searchField } from '../kit/filter-fields.ts';
import { type ListedRow, listOf } from '../kit/row-list.ts';
import { pathOf, pathOfApp, pathOfGrant, pathOfMember } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { appItem } from './apps-page.ts';
import { rankOf } from './find.ts';
import { freshness } from './freshness.ts';
import { listRows } from './list-rows.ts';
import { memberItem } from './members-page.ts';
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
      orders: {
        best: { key: ({ text, grants }) => `${rankOf(text, typed)}${String(1e9 - grants).padStart(10, '0')}${text}` },
      },
      item: itemOf,
      isSilent: exact.length > 0,
    }));
  const body = html`<form class="filter" role="search">
${searchField('Member or app', q)}
<button>Search</button>
</form>
${exact.length > 0 && html`<div class="card">${listOf(exact)}</div>`}
${found}
${freshness(view, sources.times)}`;
  return { title: q === '' ? 'Search' : `Search: ${q}`, body };
}

function itemOf(hit: Hit): ListedRow {
  const [item, kind] = 'hosts' in hit ? [appItem(hit), 'app'] : [memberItem(hit), 'member'];
  return { ...item, badges: [html`<span class="badge">${kind}</span>`, ...(item.badges ?? [])] };
}

/** What has exactly this id in the store, and is not among the rows: they may not be read, or be older. */
async function exactly(
  sources: Sources<'grants' | 'store'>,
  id: string,
  rows: Rows | undefined,
): Promise<readonly ListedRow[]> {
  if (id === '') return [];
  const [member, app, grant] = await Promise.all([
    rows?.members.has(id) ? undefined : storedMembers(sources.store).find(id),
    rows?.apps.has(id) ? undefined : findApp(sources.store, id),
    sources.grants.find(id),
  ]);
  const about = [html`<code>${id}</code>`];
  const row = (href: string, name: string, kind: string): ListedRow => ({
    ...{ href, name, about, badges: [html`<span class="badge">${kind}</span>`] },
  });
  return [
    ...(member === undefined ? [] : [row(pathOfMember(id), member.name ?? member.email ?? id, 'member')]),
    ...(app === undefined ? [] : [row(pathOfApp(id), app.name ?? id, 'app')]),
    ...(grant === undefined ? [] : [row(pathOfGrant(id), `${grant.member} – ${grant.clientId}`, 'grant')]),
  ];
}
