import { CLIENT_ACTIONS } from '../../../actions/clients.ts';
import { findApp, type StoredApp } from '../../../authorization-server/administration/stored-app.ts';
import type { StandingGrant } from '../../../authorization-server/grants.ts';
import { posingOf } from '../../../authorization-server/pages/posing.ts';
import { counted } from '../../../http/amounts.ts';
import { type Html, html } from '../../../http/html.ts';
import { actionButtons } from '../actions/action-buttons.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { facts } from '../kit/facts.ts';
import { type Column, listTable } from '../kit/table.ts';
import { pathOf, pathOfGrant, pathOfMember, withQuery } from '../paths.ts';
import { attemptsSection } from '../recorder/attempts-section.ts';
import type { ConsoleSources, Sources } from '../sources.ts';
import { appGrants, appUsage, latest } from './app-use.ts';
import { changeColumn, grantedColumn, nameColumn, usedColumn } from './columns.ts';
import { memberName } from './party.ts';
import { powers } from './powers.ts';
import { grantsNow } from './read-by-key.ts';
import type { Rows } from './rows.ts';
import { canChange } from './scopes.ts';
import { trailSection } from './trail-list.ts';
import { usesTable } from './uses.ts';

/** The most grants on the page. */
const MOST_GRANTS = 10;
/** The most members whose use is read. */
const MOST_MEMBERS = 20;

export async function appPage(sources: ConsoleSources, { params, csrf }: ConsoleRequest): Promise<ConsoleAnswer> {
  const id = params.id ?? '';
  const [app, described, first, total, trail, attempts] = await Promise.all([
    findApp(sources.store, id),
    sources.controls.account.describeClient(id),
    sources.grants.list({ client: id }, MOST_GRANTS),
    sources.grants.count({ client: id }),
    trailSection(sources, { client: id }),
    attemptsSection(sources, { app: id }),
  ]);
  const view = await sources.directory.look();
  const rows = view.state === 'ready' && !view.rows.partial ? view.rows : await grantsNow(sources, { client: id });
  const held = await appGrants(rows, sources.scopes, id);
  const all = [...held.values()];
  const since = all.reduce((first, { grantedAt }) => Math.min(first, grantedAt), Number.POSITIVE_INFINITY);
  const lastUsedAt = all.map((one) => one.lastUsedAt).reduce(latest, undefined);
  const sum = rows.more || all.length === 0 ? undefined : { since, lastUsedAt };
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
    ['Registered', app?.createdAt && sources.times.both(app.createdAt * 1000)],
    ['Kept until', app?.expiresAt && sources.times.both(app.expiresAt * 1000)],
    ['Connected since', sum && sources.times.date(sum.since * 1000)],
    ['Last used', sum && (sum.lastUsedAt === undefined ? 'never' : sources.times.day(sum.lastUsedAt * 1000))],
    ['Members', !rows.more && held.size.toLocaleString('en')],
    ['Grants', total.toLocaleString('en')],
  ])}
${actionButtons(Object.values(CLIENT_ACTIONS), id, described, csrf)}
</section>
${attempts}
${rows.more && html`<p class="notice">Below is what ${counted(rows.grants.size, 'grant')} of ${total.toLocaleString('en')} allow and were used for.</p>`}
${
  held.size > 0 &&
  html`${powers(sources, all)}
${await usesOfApp(sources, rows, id, held)}`
}
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

/** The use of the app by the members who used it last. */
async function usesOfApp(
  sources: Sources<'scopes' | 'times' | 'tools' | 'usage'>,
  rows: Rows,
  id: string,
  held: Awaited<ReturnType<typeof appGrants>>,
): Promise<Html> {
  const used = [...held].filter(([, { lastUsedAt }]) => lastUsedAt !== undefined);
  const latest = used.toSorted(([, { lastUsedAt: a = 0 }], [, { lastUsedAt: b = 0 }]) => b - a).slice(0, MOST_MEMBERS);
  const members = latest.map(([member]) => member);
  const uses = await appUsage(sources, rows, id, members);
  return html`<section class="card"><h2>What it did in the last 30 days</h2>
${usesTable(sources, uses)}
${used.length > members.length && html`<p class="muted small">By the ${members.length} of ${used.length} members who used it last.</p>`}
</section>`;
}

async function membersOfApp(
  sources: Sources<'scopes' | 'store' | 'times'>,
  grants: readonly StandingGrant[],
  rows: Rows,
): Promise<Html> {
  const named = grants
    .toSorted((a, b) => b.grantedAt - a.grantedAt)
    .map(async (grant) => ({ ...grant, name: await memberName(sources.store, grant.member) }));
  const columns: readonly Column<StandingGrant & { readonly name: string }>[] = [
    nameColumn('Member', ({ member, name }) => [pathOfMember(member), name]),
    changeColumn(({ scopes }) => canChange(sources.scopes, scopes)),
    grantedColumn(sources.times, ({ id }) => pathOfGrant(id)),
    usedColumn(sources.times.day, ({ id }) => rows.grants.get(id)),
  ];
  return listTable({ label: 'Members', columns, rows: await Promise.all(named) });
}

/** What the app says about itself, as text: its links are not ours to offer. */
function metadataFacts(app: StoredApp): readonly (readonly [string, Html | string | undefined])[] {
  const { metadata, redirectUris } = app;
  const text = (name: string) => (typeof metadata[name] === 'string' ? html`<bdi>${metadata[name]}</bdi>` : undefined);
  return [
    ['Verified', proofOf(app)],
    ['Redirect URIs', html`${redirectUris.map((uri) => html`<code>${uri}</code><br>`)}`],
    ['Home page', text('client_uri')],
    ['Privacy policy', text('policy_uri')],
    ['Terms', text('tos_uri')],
    ['Authenticates with', text('token_endpoint_auth_method')],
  ];
}

/** A document proves its own domain, and not where codes are sent. A registration proves nothing. */
function proofOf({ id, kind, redirectUris }: StoredApp): Html {
  if (kind === 'registered') return html`no: any app can register under any name`;
  const host = URL.parse(id)?.host ?? '';
  const elsewhere = redirectUris.filter((uri) => URL.parse(uri)?.host !== host);
  return html`domain <bdi>${host}</bdi>${elsewhere.length > 0 && html` <span class="badge warn">codes go elsewhere, too</span>`}`;
}
