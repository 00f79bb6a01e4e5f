import { MEMBER_ACTIONS } from '../../../actions/members.ts';
import { byApp } from '../../../authorization-server/connected-apps/app-list.ts';
import type { StandingGrant } from '../../../authorization-server/grants.ts';
import { accountOf, storedMembers } from '../../../authorization-server/members.ts';
import { type Html, html } from '../../../http/html.ts';
import { knownDetails, type MemberDetails } from '../../../oauth/member-details.ts';
import { actionButtons } from '../actions/action-buttons.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { facts } from '../kit/facts.ts';
import { type Column, listTable } from '../kit/table.ts';
import { pathOf, pathOfApp, pathOfGrant, withQuery } from '../paths.ts';
import { attemptsSection } from '../recorder/attempts-section.ts';
import type { ConsoleSources, Sources } from '../sources.ts';
import { changeColumn, grantedColumn, nameColumn, usedColumn } from './columns.ts';
import type { Use } from './filters.ts';
import { appName } from './party.ts';
import { canChange } from './scopes.ts';
import { trailSection } from './trail-list.ts';

/** The most grants on the page. */
const MOST_GRANTS = 200;

export async function memberPage(sources: ConsoleSources, { params, csrf }: ConsoleRequest): Promise<ConsoleAnswer> {
  const id = params.id ?? '';
  const [described, member, listed, trail, attempts] = await Promise.all([
    sources.controls.account.describeMember(id),
    storedMembers(sources.store).find(id),
    sources.grants.list({ member: id }, MOST_GRANTS + 1),
    trailSection(sources, { member: id }),
    attemptsSection(sources, { member: id }),
  ]);
  const shown = listed.slice(0, MOST_GRANTS);
  const suspended = described.state === 'suspended';
  const body = html`${!described.known && html`<p class="notice">No member with this ID has signed in for an app. Check the ID: it may be a typing error.</p>`}
<section class="card">${facts([
    ['Member ID', html`<code>${id}</code>`],
    ...detailRows(member ?? {}),
    [
      'State',
      suspended
        ? html`<span class="badge bad">suspended</span>${described.suspended_at !== undefined && html` since ${sources.times.both(Date.parse(described.suspended_at))}`}`
        : html`<span class="badge good">active</span>`,
    ],
  ])}
${actionButtons(Object.values(MEMBER_ACTIONS), id, described, csrf)}
</section>
${attempts}
<section class="card"><h2>Connected apps</h2>
${shown.length === 0 ? html`<p class="muted">No app is connected.</p>` : await appsOfMember(sources, id, shown)}
${shown.length > 1 && html`<p><a href="${withQuery(pathOf('grants'), { member: id })}">All grants of this member</a></p>`}
</section>
${trail}`;
  return { title: member === undefined ? id : (member.name ?? accountOf(member)), body };
}

/** What the login says about the member. The name is the title of the page. */
function detailRows(details: MemberDetails) {
  const others = knownDetails(details).filter(([{ claim }]) => claim !== 'name');
  return others.map(
    ([{ noun }, value]) => [noun.replace(/^./, (a) => a.toUpperCase()), html`<bdi>${value}</bdi>`] as const,
  );
}

/** What a member has allowed one app: the newest grant, and what holds for all. */
interface ConnectedApp extends StandingGrant, Omit<Use, 'grantedAt'> {
  readonly name: string;
}

/** A row for each app, in the order in which members see them: those first that were used or connected last. */
async function appsOfMember(
  sources: Sources<'grants' | 'scopes' | 'store' | 'times' | 'usage'>,
  member: string,
  grants: readonly StandingGrant[],
): Promise<Html> {
  const { scopes, times } = sources;
  const [uses, unredeemed] = await Promise.all([sources.usage.of(member), sources.grants.unredeemed(grants)]);
  const rows = byApp(grants, uses).map(async ({ clientId, grants: own, lastUsedAt }): Promise<ConnectedApp> => {
    return {
      ...(own[0] as StandingGrant),
      ...{ name: await appName(sources.store, clientId), lastUsedAt },
      changes: own.some((grant) => canChange(scopes, grant.scopes)),
      redeemed: lastUsedAt !== undefined || own.some(({ id }) => !unredeemed.has(id)),
    };
  });
  const columns: readonly Column<ConnectedApp>[] = [
    nameColumn('App', ({ clientId, name }) => [pathOfApp(clientId), name]),
    changeColumn(({ changes }) => changes),
    grantedColumn(times, ({ id }) => pathOfGrant(id)),
    usedColumn(times.ago, (row) => row),
    {
      title: 'Action',
      cell: ({ clientId, name }) =>
        html`<a class="danger" href="${pathOf('members', member, 'apps', clientId)}" aria-label="Disconnect ${name}…">Disconnect…</a>`,
    },
  ];
  return listTable({ label: 'Connected apps', columns, rows: await Promise.all(rows) });
}
