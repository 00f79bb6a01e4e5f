import { clientOf, findClient, metadataOf } from '../../authorization-server/event-client.ts';
import type { StandingGrant } from '../../authorization-server/grants.ts';
import { accountOf, storedMembers } from '../../authorization-server/members.ts';
import { isPosing } from '../../authorization-server/pages/posing.ts';
import { type Html, html } from '../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-route.ts';
import { buttonForm } from './confirm.ts';
import type { DirectoryDeps } from './deps.ts';
import {
  CHANGES,
  canChange,
  counted,
  datesOf,
  facts,
  type ListedRow,
  listOf,
  pathOf,
  pathOfApp,
  pathOfGrant,
  pathOfMember,
  withQuery,
} from './parts.ts';
import { trailSection } from './trail-list.ts';

/** The most grants on the page of a member, and on that of an app. */
const GRANTS_OF_MEMBER = 200;
const GRANTS_OF_APP = 10;

/** The name of a member, from the store. */
export async function memberName({ store }: DirectoryDeps, id: string): Promise<string | undefined> {
  const member = await storedMembers(store).find(id);
  return member === undefined ? undefined : (member.name ?? accountOf(member));
}

/** The name that an app has given itself, or its id. */
export async function appName({ store }: DirectoryDeps, id: string): Promise<string> {
  const entry = await findClient(store, id);
  return (entry && clientOf(id, metadataOf(entry)).clientName) ?? id;
}

export async function memberPage(deps: DirectoryDeps, { params, csrf }: ConsoleRequest): Promise<ConsoleAnswer> {
  const id = params.id ?? '';
  const [described, member, listed, trail] = await Promise.all([
    deps.account.describeMember(id),
    storedMembers(deps.store).find(id),
    deps.grants.list({ member: id }, GRANTS_OF_MEMBER + 1),
    trailSection(deps, { member: id }),
  ]);
  const shown = listed.slice(0, GRANTS_OF_MEMBER);
  const suspended = described.state === 'suspended';
  const body = html`${!described.known && html`<p class="notice">No member with this ID has signed in for an app. Check the ID: it may be a typing error.</p>`}
<section class="card">${facts([
    ['Member ID', html`<code>${id}</code>`],
    ['Email', member?.email !== undefined && html`<bdi>${member.email}</bdi>`],
    [
      'State',
      suspended
        ? html`<span class="badge bad">suspended</span> since ${secondsOf(described.suspended_at, deps)}`
        : html`<span class="badge good">active</span>`,
    ],
  ])}
<div class="actions">${
    suspended
      ? buttonForm(pathOf('members', id, 'resume'), 'Resume', csrf)
      : html`<a class="button danger" href="${pathOf('members', id, 'suspend')}">Suspend…</a>`
  }${shown.length > 0 && html` <a class="button danger" href="${pathOf('members', id, 'revoke')}">Disconnect all apps…</a>`}</div>
</section>
<section class="card"><h2>Connected apps</h2>
${shown.length === 0 ? html`<p class="muted">No app is connected.</p>` : await appsOfMember(deps, id, shown)}
${listed.length > shown.length && html`<p><a href="${withQuery(pathOf('grants'), { member: id })}">All grants of this member</a></p>`}
</section>
${trail}`;
  return { section: 'members', title: member === undefined ? id : (member.name ?? accountOf(member)), body };
}

/** A row for each app, the newest first. */
async function appsOfMember(deps: DirectoryDeps, member: string, grants: readonly StandingGrant[]): Promise<Html> {
  const dates = datesOf(deps);
  const uses = await deps.usage.of(member);
  const byApp = Map.groupBy(
    grants.toSorted((a, b) => b.grantedAt - a.grantedAt),
    ({ clientId }) => clientId,
  );
  const rows = [...byApp].map(async ([clientId, own]): Promise<ListedRow> => {
    const used = Math.max(0, ...own.map(({ id }) => uses.get(id)?.lastUsedAt ?? 0));
    const name = await appName(deps, clientId);
    const grantLinks = own
      .slice(0, 5)
      .map(({ id, grantedAt }) => html`<a href="${pathOfGrant(id)}">granted ${dates.ago(grantedAt)}</a> `);
    return {
      href: pathOfApp(clientId),
      name,
      badges: [own.some(({ scopes }) => canChange(deps.scopes, scopes)) && CHANGES],
      about: [...grantLinks, used === 0 ? 'never used' : html`last used ${dates.ago(used)}`],
      action: html`<a class="button danger" href="${pathOf('members', member, 'apps', clientId)}" aria-label="Disconnect ${name}…">Disconnect…</a>`,
    };
  });
  return listOf(await Promise.all(rows));
}

export async function appPage(deps: DirectoryDeps, { params, csrf }: ConsoleRequest): Promise<ConsoleAnswer> {
  const id = params.id ?? '';
  const [entry, described, first, total, trail] = await Promise.all([
    findClient(deps.store, id),
    deps.account.describeClient(id),
    deps.grants.list({ client: id }, GRANTS_OF_APP),
    deps.grants.count({ client: id }),
    trailSection(deps, { client: id }),
  ]);
  const view = await deps.directory.look();
  const members = view.state === 'ready' ? view.rows.apps.get(id)?.members : undefined;
  const name = entry && clientOf(id, metadataOf(entry)).clientName;
  const disabled = 'state' in described && described.state === 'disabled';
  const known = entry !== undefined;
  const body = html`${!known && html`<p class="notice">No app with this ID is registered here any more.</p>`}
${name !== undefined && isPosing(name, deps.school) && html`<p class="notice bad">The name of this app imitates <bdi>${deps.school}</bdi>.</p>`}
<section class="card">${facts([
    [
      'State',
      disabled ? html`<span class="badge bad">disabled</span>` : known && html`<span class="badge good">enabled</span>`,
    ],
    ['Client ID', html`<code>${id}</code>`],
    ...(entry === undefined ? [] : metadataFacts(metadataOf(entry), entry.kind === 'ClientDocument')),
    ['Registered', 'created_at' in described ? secondsOf(described.created_at, deps) : undefined],
    ['Kept until', 'kept_until' in described ? secondsOf(described.kept_until, deps) : undefined],
    ['Members', members?.toLocaleString('en')],
    ['Grants', total.toLocaleString('en')],
  ])}
<div class="actions">${
    disabled
      ? buttonForm(pathOf('apps', id, 'enable'), 'Enable', csrf)
      : known && html`<a class="button danger" href="${pathOf('apps', id, 'disable')}">Disable…</a>`
  }${(total > 0 || known) && html` <a class="button danger" href="${pathOf('apps', id, 'revoke')}">Require consent again…</a>`}${known && html` <a class="button danger" href="${pathOf('apps', id, 'delete')}">Delete…</a>`}</div>
</section>
<section class="card"><h2>Members</h2>
${first.length === 0 ? html`<p class="muted">No member has connected it.</p>` : await membersOfApp(deps, first)}
${total > first.length && html`<p><a href="${withQuery(pathOf('grants'), { app: id })}">All ${counted(total, 'grant')} of this app</a></p>`}
</section>
${trail}`;
  return { section: 'apps', title: name ?? id, body };
}

async function membersOfApp(deps: DirectoryDeps, grants: readonly StandingGrant[]): Promise<Html> {
  const dates = datesOf(deps);
  const rows = grants.map(
    async ({ id, member, grantedAt, scopes }): Promise<ListedRow> => ({
      href: pathOfMember(member),
      name: (await memberName(deps, member)) ?? member,
      badges: [canChange(deps.scopes, scopes) && CHANGES],
      about: [html`<a href="${pathOfGrant(id)}">granted ${dates.ago(grantedAt)}</a>`],
    }),
  );
  return listOf(await Promise.all(rows));
}

type Metadata = ReturnType<typeof metadataOf>;

/** What the app says about itself, as text: its links are not ours to offer. */
function metadataFacts(
  metadata: Metadata,
  isDocument: boolean,
): readonly (readonly [string, Html | string | undefined])[] {
  const text = (name: string) => (typeof metadata[name] === 'string' ? html`<bdi>${metadata[name]}</bdi>` : undefined);
  const { redirectUris } = clientOf('', metadata);
  return [
    ['Proof', proofOf(metadata, isDocument)],
    ['Redirect URIs', html`${redirectUris.map((uri) => html`<code>${uri}</code><br>`)}`],
    ['Home page', text('client_uri')],
    ['Privacy policy', text('policy_uri')],
    ['Terms', text('tos_uri')],
    ['Authenticates with', text('token_endpoint_auth_method')],
  ];
}

/** A document proves its own domain, and not where codes are sent. A registration proves nothing. */
function proofOf(metadata: Metadata, isDocument: boolean): Html {
  if (!isDocument) return html`none: any app can register under any name`;
  const host = URL.parse(String(metadata.client_id))?.host ?? '';
  const elsewhere = clientOf('', metadata).redirectUris.filter((uri) => URL.parse(uri)?.host !== host);
  return html`verified domain <bdi>${host}</bdi>${elsewhere.length > 0 && html` <span class="badge warn">codes go elsewhere, too</span>`}`;
}

function secondsOf(iso: string | undefined, deps: DirectoryDeps): Html | undefined {
  return iso === undefined ? undefined : datesOf(deps).both(Date.parse(iso) / 1000);
}
