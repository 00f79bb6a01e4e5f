import { counted } from '../../../http/counted.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-route.ts';
import type { Times } from '../times.ts';
import type { DirectoryDeps } from './deps.ts';
import { choice, searchField } from './filter-fields.ts';
import { type Order, pageOf } from './find.ts';
import { freshness } from './freshness.ts';
import { pathOf, pathOfApp, pathOfGrant, pathOfMember } from './paths.ts';
import { registrationLine } from './registration-page.ts';
import { foundList, type ListedRow } from './row-list.ts';
import { type AppRow, folded, type GrantRow, type MemberRow, type Rows } from './rows.ts';
import { CHANGES, canChange } from './scopes.ts';

export const PAGE = 50;
/** Days after which a grant counts as unused. */
const UNUSED_DAYS = 30;
const DAY = 86_400;

const MEMBER_ORDERS: Readonly<Record<string, Order<MemberRow>>> = {
  name: { key: ({ text }) => text },
  grants: { key: ({ grants }) => grants, descending: true },
};

const APP_ORDERS: Readonly<Record<string, Order<AppRow>>> = {
  members: { key: ({ members }) => members, descending: true },
  name: { key: ({ text }) => text },
};

const GRANT_ORDERS: Readonly<Record<string, Order<GrantRow>>> = {
  granted: { key: ({ grantedAt }) => grantedAt, descending: true },
  used: { key: ({ lastUsedAt = 0 }) => lastUsedAt, descending: true },
  unused: { key: ({ lastUsedAt = 0 }) => lastUsedAt },
  expires: { key: ({ expiresAt = Number.MAX_SAFE_INTEGER }) => expiresAt },
};

/** The order that was asked for, or the first. */
function orderOf<T>(orders: Readonly<Record<string, Order<T>>>, asked: string | undefined): Order<T> {
  const known = Object.hasOwn(orders, asked ?? '') ? orders[asked ?? ''] : Object.values(orders)[0];
  return known as Order<T>;
}

export async function membersPage(deps: DirectoryDeps, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { q, state, sort, place } = query;
  const view = await deps.directory.look();
  const typed = folded(q ?? '');
  const list =
    view.state === 'ready' &&
    foundList(
      await pageOf(view.rows.members.values(), {
        keep: ({ text, suspended }) => text.includes(typed) && (state !== 'suspended' || suspended),
        ...{ order: orderOf(MEMBER_ORDERS, sort), cursor: place, limit: PAGE },
      }),
      memberItem,
      { noun: 'member', path: pathOf('members'), query },
    );
  const body = html`<form class="filter">
${searchField('Part of a name, email address or ID', q)}
${choice('state', 'Show', { '': 'All members', suspended: 'Suspended members' }, state)}
${choice('sort', 'Sort by', { '': 'Name', grants: 'Most grants' }, sort)}
<button>Show</button>
</form>
${list}
${freshness(view, deps.times)}`;
  return { section: 'members', title: 'Members', body };
}

export async function appsPage(deps: DirectoryDeps, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { q, kind, sort, place } = query;
  const view = await deps.directory.look();
  const typed = folded(q ?? '');
  const isOfKind = (row: AppRow) => (kind === 'disabled' ? row.disabled : (kind ?? '') === '' || row.kind === kind);
  const list =
    view.state === 'ready' &&
    foundList(
      await pageOf(view.rows.apps.values(), {
        keep: (row) => row.text.includes(typed) && isOfKind(row),
        ...{ order: orderOf(APP_ORDERS, sort), cursor: place, limit: PAGE },
      }),
      appItem,
      { noun: 'app', path: pathOf('apps'), query },
    );
  const kinds = {
    '': 'All apps',
    registered: 'Registered apps',
    document: 'Apps with a metadata document',
    disabled: 'Disabled apps',
  };
  // The list is in memory: it is shown while the store is down, too.
  const registration = await registrationLine(deps).catch(() => html`<p class="notice">The store is unavailable.</p>`);
  const body = html`${registration}
<form class="filter">
${searchField('Part of a name, host or ID', q)}
${choice('kind', 'Show', kinds, kind)}
${choice('sort', 'Sort by', { '': 'Most members', name: 'Name' }, sort)}
<button>Show</button>
</form>
${list}
${freshness(view, deps.times)}
<p class="actions"><a class="button danger" href="${pathOf('consent')}">Require consent again for all apps…</a></p>`;
  return { section: 'apps', title: 'Apps', body };
}

export async function grantsPage(deps: DirectoryDeps, { query }: ConsoleRequest): Promise<ConsoleAnswer> {
  const { q, app, member, changes, unused, sort, place } = query;
  const view = await deps.directory.look();
  const typed = folded(q ?? '');
  const before = deps.clock() / 1000 - UNUSED_DAYS * DAY;
  const hits = view.state === 'ready' && typed !== '' ? matching(view.rows, typed) : new Set();
  const writes = changing(deps.scopes);
  const keep = (row: GrantRow) =>
    (app === undefined || row.app.id === app) &&
    (member === undefined || row.member.id === member) &&
    (changes === undefined || writes(row.scopes)) &&
    (unused === undefined || (row.lastUsedAt ?? row.grantedAt) < before) &&
    (typed === '' || hits.has(row.member) || hits.has(row.app) || row.id === typed);
  const list =
    view.state === 'ready' &&
    foundList(
      await pageOf(view.rows.grants.values(), {
        ...{ keep, order: orderOf(GRANT_ORDERS, sort), cursor: place, limit: PAGE },
      }),
      (row) => grantItem(row, writes(row.scopes), deps.times),
      { noun: 'grant', path: pathOf('grants'), query },
    );
  const sorts = { '': 'Newest', used: 'Last used', unused: 'Unused for longest', expires: 'Expires first' };
  const body = html`<form class="filter">
${searchField('Part of a member or app, or a grant ID', q)}
${app !== undefined && kept('app', app, view.state === 'ready' ? view.rows.apps.get(app)?.name : undefined)}
${member !== undefined && kept('member', member, view.state === 'ready' ? view.rows.members.get(member)?.name : undefined)}
${choice('sort', 'Sort by', sorts, sort)}
<label class="tick"><input type="checkbox" name="changes" value="yes"${changes !== undefined && html` checked`}> Can make changes</label>
<label class="tick"><input type="checkbox" name="unused" value="yes"${unused !== undefined && html` checked`}> Unused for ${UNUSED_DAYS} days</label>
<button>Show</button>
</form>
${list}
${freshness(view, deps.times)}`;
  return { section: 'grants', title: 'Grants', body };
}

/** A filter by one app or member, which can be unticked. */
function kept(name: string, id: string, title: string | undefined): Html {
  return html`<label class="tick"><input type="checkbox" name="${name}" value="${id}" checked> Only ${name} <bdi>${title ?? id}</bdi></label>`;
}

/** The members and apps that match: each has many grants. */
function matching({ members, apps }: Rows, typed: string): ReadonlySet<MemberRow | AppRow> {
  const all = [...members.values(), ...apps.values()];
  return new Set(all.filter(({ text }) => text.includes(typed)));
}

/** Many grants have the same scopes: each text is looked at once. */
function changing(scopes: DirectoryDeps['scopes']): (text: string) => boolean {
  const known = new Map<string, boolean>();
  return (text) => {
    const found = known.get(text) ?? canChange(scopes, text.split(' '));
    known.set(text, found);
    return found;
  };
}

export function memberItem({ id, name, email, suspended, grants }: MemberRow): ListedRow {
  return {
    href: pathOfMember(id),
    name: name ?? email ?? id,
    badges: [suspended && html`<span class="badge bad">suspended</span>`],
    about: [name !== undefined && email, html`<code>${id}</code>`, counted(grants, 'grant')],
  };
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

function grantItem({ id, member, app, grantedAt, lastUsedAt }: GrantRow, changes: boolean, times: Times) {
  return {
    href: pathOfGrant(id),
    name: `${member.name ?? member.email ?? member.id} – ${app.name ?? app.id}`,
    badges: [changes && CHANGES],
    about: [
      html`granted ${times.ago(grantedAt * 1000)}`,
      lastUsedAt === undefined ? 'never used' : html`last used ${times.ago(lastUsedAt * 1000)}`,
    ],
  } satisfies ListedRow;
}
