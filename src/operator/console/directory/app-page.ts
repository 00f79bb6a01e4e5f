import { CLIENT_ACTIONS } from '../../../actions/clients.ts';
import { findApp, type StoredApp } from '../../../authorization-server/administration/stored-app.ts';
import type { StandingGrant } from '../../../authorization-server/grants.ts';
import { posingOf } from '../../../authorization-server/pages/posing.ts';
import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import { actionButtons } from '../actions/action-buttons.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { facts } from '../kit/facts.ts';
import { listTable } from '../kit/table.ts';
import { pathOf, pathOfGrant, pathOfMember, withQuery } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { lastUse } from './filters.ts';
import { memberName } from './names.ts';
import type { Rows } from './rows.ts';
import { CHANGES, canChange } from './scopes.ts';
import { trailSection } from './trail-list.ts';

/** The most grants on the page. */
const MOST_GRANTS = 10;

export async function appPage(
  sources: Sources<'controls' | 'directory' | 'grants' | 'school' | 'scopes' | 'store' | 'times' | 'trail'>,
  { params, csrf }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const id = params.id ?? '';
  const [app, described, first, total, trail] = await Promise.all([
    findApp(sources.store, id),
    sources.controls.account.describeClient(id),
    sources.grants.list({ client: id }, MOST_GRANTS),
    sources.grants.count({ client: id }),
    trailSection(sources, { client: id }),
  ]);
  const view = await sources.directory.look();
  const rows = view.state === 'ready' ? view.rows : undefined;
  const members = rows?.apps.get(id)?.members;
  const name = app?.name;
  const disabled = 'state' in described && described.state === 'disabled';
  const known = app !== undefined;
  const body = html`${!known && html`<p class="notice">No app with this ID is registered here any more.</p>`}
${app !== undefined && posingNotice(app, sources.school)}
<section class="card">${facts([
    [
      'State',
      disabled ? html`<span class="badge bad">disabled</span>` : known && html`<span class="badge good">enabled</span>`,
    ],
    ['Client ID', html`<code>${id}</code>`],
    ...(app === undefined ? [] : metadataFacts(app)),
    ['Registered', 'created_at' in described ? momentOf(described.created_at, sources) : undefined],
    ['Kept until', 'kept_until' in described ? momentOf(described.kept_until, sources) : undefined],
    ['Members', members?.toLocaleString('en')],
    ['Grants', total.toLocaleString('en')],
  ])}
${actionButtons(Object.values(CLIENT_ACTIONS), id, described, csrf)}
</section>
<section class="card"><h2>Members</h2>
${first.length === 0 ? html`<p class="muted">No member has connected it.</p>` : await membersOfApp(sources, first, rows)}
${total > first.length && html`<p><a href="${withQuery(pathOf('grants'), { app: id })}">All ${counted(total, 'grant')} of this app</a></p>`}
</section>
${trail}`;
  return { title: name ?? id, body };
}

function posingNotice(app: StoredApp, school: string): Html | undefined {
  const { name, redirectUris } = app;
  const host = (uri: string) => URL.parse(uri)?.host || undefined;
  const posing = posingOf(name, school, {
    document: app.kind === 'document' ? host(app.id) : undefined,
    destinations: redirectUris.flatMap((uri) => (uri.startsWith('https:') ? (host(uri) ?? []) : [])),
  });
  if (posing === undefined) return undefined;
  const imitated = html`<bdi>${posing === 'school' ? school : posing.owner}</bdi>`;
  return html`<p class="notice bad">${posing === 'school' ? html`The name of this app imitates ${imitated}.` : html`The name of this app is one of ${imitated}, and neither its redirect URIs nor a client ID metadata document prove that it is theirs.`}</p>`;
}

async function membersOfApp(
  sources: Sources<'scopes' | 'store' | 'times'>,
  grants: readonly StandingGrant[],
  rows: Rows | undefined,
): Promise<Html> {
  const named = grants
    .toSorted((a, b) => b.grantedAt - a.grantedAt)
    .map(async (grant) => ({ ...grant, name: (await memberName(sources, grant.member)) ?? grant.member }));
  return listTable({
    label: 'Members',
    columns: [
      {
        title: 'Member',
        cell: ({ member, name }) => html`<a class="name" href="${pathOfMember(member)}"><bdi>${name}</bdi></a>`,
      },
      { title: 'Can change', cell: ({ scopes }) => canChange(sources.scopes, scopes) && CHANGES },
      {
        title: 'Granted',
        cell: ({ id, grantedAt }) => html`<a href="${pathOfGrant(id)}">${sources.times.ago(grantedAt * 1000)}</a>`,
        isLabelled: true,
      },
      { title: 'Last used', cell: ({ id }) => lastUse(rows?.grants.get(id), sources.times), isLabelled: true },
    ],
    rows: await Promise.all(named),
  });
}

/** What the app says about itself, as text: its links are not ours to offer. */
function metadataFacts(app: StoredApp): readonly (readonly [string, Html | string | undefined])[] {
  const { metadata, redirectUris } = app;
  const text = (name: string) => (typeof metadata[name] === 'string' ? html`<bdi>${metadata[name]}</bdi>` : undefined);
  return [
    ['Proof', proofOf(app)],
    ['Redirect URIs', html`${redirectUris.map((uri) => html`<code>${uri}</code><br>`)}`],
    ['Home page', text('client_uri')],
    ['Privacy policy', text('policy_uri')],
    ['Terms', text('tos_uri')],
    ['Authenticates with', text('token_endpoint_auth_method')],
  ];
}

/** A document proves its own domain, and not where codes are sent. A registration proves nothing. */
function proofOf({ id, kind, redirectUris }: StoredApp): Html {
  if (kind === 'registered') return html`none: any app can register under any name`;
  const host = URL.parse(id)?.host ?? '';
  const elsewhere = redirectUris.filter((uri) => URL.parse(uri)?.host !== host);
  return html`verified domain <bdi>${host}</bdi>${elsewhere.length > 0 && html` <span class="badge warn">codes go elsewhere, too</span>`}`;
}

function momentOf(iso: string | undefined, { times }: Sources<'times'>): Html | undefined {
  return iso === undefined ? undefined : times.both(Date.parse(iso));
}
