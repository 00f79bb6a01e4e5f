import { MEMBER_ACTIONS } from '../../../actions/members.ts';
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
import type { Explaining } from '../recorder/explained.ts';
import type { Sources } from '../sources.ts';
import { changeColumn, nameColumn } from './columns.ts';
import { appName } from './names.ts';
import { NOT_CONNECTED } from './not-connected.ts';
import { canChange } from './scopes.ts';
import { trailSection } from './trail-list.ts';

/** The most grants on the page. */
const MOST_GRANTS = 200;
/** The most grants of one app that are linked. */
const MOST_LINKS = 3;

export async function memberPage(
  sources: Explaining & Sources<'controls' | 'grants' | 'scopes' | 'times' | 'trail' | 'usage'>,
  { params, csrf }: ConsoleRequest,
): Promise<ConsoleAnswer> {
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
${listed.length > shown.length && html`<p><a href="${withQuery(pathOf('grants'), { member: id })}">All grants of this member</a></p>`}
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

/** What a member has allowed one app. Times are Unix seconds. */
interface ConnectedApp {
  readonly clientId: string;
  readonly name: string;
  /** The newest first. */
  readonly grants: readonly StandingGrant[];
  readonly lastUsedAt: number;
  /** Whether it has fetched a token for one of them. */
  readonly redeemed: boolean;
}

/** A row for each app, the newest first. */
async function appsOfMember(
  sources: Sources<'grants' | 'scopes' | 'store' | 'times' | 'usage'>,
  member: string,
  grants: readonly StandingGrant[],
): Promise<Html> {
  const [uses, unredeemed] = await Promise.all([sources.usage.of(member), sources.grants.unredeemed(grants)]);
  const byApp = Map.groupBy(
    grants.toSorted((a, b) => b.grantedAt - a.grantedAt),
    ({ clientId }) => clientId,
  );
  const rows = [...byApp].map(async ([clientId, own]): Promise<ConnectedApp> => {
    const lastUsedAt = Math.max(0, ...own.map(({ id }) => uses.get(id)?.lastUsedAt ?? 0));
    const redeemed = lastUsedAt > 0 || own.some(({ id }) => !unredeemed.has(id));
    return { clientId, name: await appName(sources, clientId), grants: own, lastUsedAt, redeemed };
  });
  return listTable({ label: 'Connected apps', columns: columnsOf(sources, member), rows: await Promise.all(rows) });
}

function columnsOf({ scopes, times }: Sources<'scopes' | 'times'>, member: string): readonly Column<ConnectedApp>[] {
  return [
    nameColumn(
      'App',
      ({ clientId }) => pathOfApp(clientId),
      ({ name }) => name,
    ),
    changeColumn(({ grants }) => grants.some((grant) => canChange(scopes, grant.scopes))),
    {
      ...{ title: 'Granted', phone: 'Granted' },
      cell: ({ grants }) =>
        grants
          .slice(0, MOST_LINKS)
          .map(({ id, grantedAt }) => html`<a href="${pathOfGrant(id)}">${times.ago(grantedAt * 1000)}</a> `),
    },
    {
      ...{ title: 'Last used', phone: 'Used' },
      cell: ({ lastUsedAt, redeemed }) =>
        lastUsedAt > 0 ? times.ago(lastUsedAt * 1000) : redeemed ? 'never' : NOT_CONNECTED,
    },
    {
      title: 'Action',
      cell: ({ clientId, name }) =>
        html`<a class="danger" href="${pathOf('members', member, 'apps', clientId)}" aria-label="Disconnect ${name}…">Disconnect…</a>`,
    },
  ];
}
