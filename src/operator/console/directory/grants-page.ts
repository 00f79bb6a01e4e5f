import { type Html, html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { choice, searchField } from '../kit/filter-fields.ts';
import type { ListedRow } from '../kit/row-list.ts';
import type { Times } from '../kit/times.ts';
import { pathOf, pathOfGrant } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import type { Order } from './find.ts';
import { freshness } from './freshness.ts';
import { listRows } from './list-rows.ts';
import { type AppRow, folded, type GrantRow, type MemberRow } from './rows.ts';
import { CHANGES, canChange } from './scopes.ts';

/** Days after which a grant counts as unused. */
const UNUSED_DAYS = 30;
const DAY = 86_400;

const ORDERS: Readonly<Record<string, Order<GrantRow>>> = {
  granted: { key: ({ grantedAt }) => grantedAt, descending: true },
  used: { key: ({ lastUsedAt = 0 }) => lastUsedAt, descending: true },
  unused: { key: ({ lastUsedAt = 0 }) => lastUsedAt },
  expires: { key: ({ expiresAt = Number.MAX_SAFE_INTEGER }) => expiresAt },
};
const SORTS = { '': 'Newest', used: 'Last used', unused: 'Unused for longest', expires: 'Expires first' };

export async function grantsPage(
  { directory, clock, scopes, times }: ConsoleSources,
  { query }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const { q = '', app, member, changes, unused, sort } = query;
  const view = await directory.look();
  const rows = view.state === 'ready' ? view.rows : undefined;
  const typed = folded(q);
  const matches = (row: MemberRow | AppRow) => row.text.includes(typed);
  // Members and apps have many grants each, so each is looked up once.
  const hits = new Set(
    typed === '' ? [] : [...(rows?.members.values() ?? []), ...(rows?.apps.values() ?? [])].filter(matches),
  );
  const before = clock() / 1000 - UNUSED_DAYS * DAY;
  const writes = changing(scopes);
  const list = await listRows<GrantRow>(view, query, {
    path: pathOf('grants'),
    noun: 'grant',
    all: ({ grants }) => grants.values(),
    keep: (row) =>
      (app === undefined || row.app.id === app) &&
      (member === undefined || row.member.id === member) &&
      (changes === undefined || writes(row.scopes)) &&
      (unused === undefined || (row.lastUsedAt ?? row.grantedAt) < before) &&
      (typed === '' || hits.has(row.member) || hits.has(row.app) || row.id === typed),
    orders: ORDERS,
    item: (row) => grantItem(row, writes(row.scopes), times),
  });
  const body = html`<form class="filter">
${searchField('Part of a member or app, or a grant ID', q)}
${app !== undefined && kept('app', app, rows?.apps.get(app)?.name)}
${member !== undefined && kept('member', member, rows?.members.get(member)?.name)}
${choice('sort', 'Sort by', SORTS, sort)}
<label class="tick"><input type="checkbox" name="changes" value="yes"${changes !== undefined && html` checked`}> Can make changes</label>
<label class="tick"><input type="checkbox" name="unused" value="yes"${unused !== undefined && html` checked`}> Unused for ${UNUSED_DAYS} days</label>
<button>Show</button>
</form>
${list}
${freshness(view, times)}`;
  return { body };
}

/** A filter by one app or member, which can be unticked. */
function kept(name: string, id: string, title: string | undefined): Html {
  return html`<label class="tick"><input type="checkbox" name="${name}" value="${id}" checked> Only ${name} <bdi>${title ?? id}</bdi></label>`;
}

/** Many grants have the same scopes, so each text is read once. */
function changing(scopes: ConsoleSources['scopes']): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    const found = known.get(text) ?? canChange(scopes, text.split(' '));
    known.set(text, found);
    return found;
  };
}

function grantItem({ id, member, app, grantedAt, lastUsedAt }: GrantRow, changes: boolean, times: Times): ListedRow {
  return {
    href: pathOfGrant(id),
    name: `${member.name ?? member.email ?? member.id} – ${app.name ?? app.id}`,
    badges: [changes && CHANGES],
    about: [
      html`granted ${times.ago(grantedAt * 1000)}`,
      lastUsedAt === undefined ? 'never used' : html`last used ${times.ago(lastUsedAt * 1000)}`,
    ],
  };
}
