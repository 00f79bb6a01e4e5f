import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import { folded } from '../../../http/visible-text.ts';
import { unixSeconds } from '../../../storage/store.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { searchForm } from '../kit/filters.ts';
import type { Column } from '../kit/table.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, pathOfGrant, withQuery } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { changeColumn, grantedColumn, nameColumn, usedColumn } from './columns.ts';
import type { DirectoryView } from './directory.ts';
import { usedLike, useFilters } from './filters.ts';
import { freshness, listRows } from './list-rows.ts';
import { grantsNow } from './read-by-key.ts';
import { type AppRow, type GrantRow, type MemberRow, nameOf } from './rows.ts';
import { changingText } from './scopes.ts';

const PATH = pathOf('grants');

export async function grantsPage(sources: ConsoleSources, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { clock, scopes, times } = sources;
  const { q = '', app, member } = query;
  const isUsed = usedLike(query, unixSeconds(clock));
  const view = await viewOf(sources, query);
  const rows = view.state === 'ready' ? view.rows : undefined;
  if (rows?.partial === true) return { body: tooMany(q) };
  const typed = folded(q);
  const matches = (row: MemberRow | AppRow) => row.text.includes(typed);
  // Members and apps have many grants each, so each is looked up once.
  const hits = new Set(
    typed === '' ? [] : [...(rows?.members.values() ?? []), ...(rows?.apps.values() ?? [])].filter(matches),
  );
  const changing = changingText(scopes);
  const changes = ({ scopes: text }: GrantRow) => changing(text);
  const list = await listRows<GrantRow>(view, query, {
    path: PATH,
    noun: 'grant',
    all: ({ grants }) => grants.values(),
    keep: (row) =>
      (app === undefined || row.app.id === app) &&
      (member === undefined || row.member.id === member) &&
      isUsed({ ...row, changes: changes(row) }) &&
      (typed === '' || hits.has(row.member) || hits.has(row.app) || row.id === q),
    columns: columnsOf(changes, times),
    usual: '-granted',
  });
  const only = html`${app !== undefined && kept('app', app, rows?.apps.get(app)?.name)}
${member !== undefined && kept('member', member, rows?.members.get(member)?.name)}`;
  const body = html`<div class="picks">${useFilters(PATH, query)}</div>
${searchForm('Part of a member or app, or a grant ID', query, ['power', 'unused'], only)}
${list}
${rows?.more === true ? html`<p class="muted small">These are from the first ${counted(rows.grants.size, 'grant')}. There are more.</p>` : freshness(view, times)}`;
  return { body };
}

/** All grants, or those of one member or app, which are read from the store if not all are in memory. */
async function viewOf(sources: ConsoleSources, { app, member }: ConsoleRequest['query']): Promise<DirectoryView> {
  const view = await sources.directory.look();
  const of = member !== undefined ? { member } : app !== undefined ? { client: app } : undefined;
  if (of === undefined || (view.state === 'ready' && !view.rows.partial)) return view;
  return { state: 'ready', rows: await grantsNow(sources, of), readAt: sources.clock() };
}

function tooMany(q: string): Html {
  return html`<p class="notice">There are too many grants to list. <a href="${withQuery(pathOf('search'), { q })}">Search for a member or app</a>: their pages list their grants. An exact grant ID is found there, too.</p>`;
}

/** A filter by one app or member, which can be unticked. */
function kept(name: string, id: string, title: string | undefined): Html {
  return html`<label class="tick"><input type="checkbox" name="${name}" value="${id}" checked> Only ${name} <bdi>${title ?? id}</bdi></label>`;
}

function columnsOf(changes: (row: GrantRow) => boolean, times: Times): readonly Column<GrantRow>[] {
  return [
    nameColumn('Grant', ({ id, member, app }) => [pathOfGrant(id), `${nameOf(member)} – ${nameOf(app)}`], {
      name: 'member',
      key: ({ member }) => member.text,
    }),
    changeColumn(changes),
    grantedColumn(times),
    usedColumn(times.day, (row) => row),
    {
      ...{ title: 'Expires', phone: false },
      cell: ({ expiresAt }) => (expiresAt === undefined ? 'never' : times.date(expiresAt * 1000)),
      sort: { name: 'expires', key: ({ expiresAt = Number.MAX_SAFE_INTEGER }) => expiresAt },
    },
  ];
}
