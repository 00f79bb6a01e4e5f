import type { Usage } from '../../../authorization-server/connected-apps/usage.ts';
import { type Html, html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { facts } from '../kit/facts.ts';
import { pathOf, pathOfApp, pathOfMember } from '../paths.ts';
import type { Sources } from '../sources.ts';
import { appName, memberName } from './names.ts';
import { NOT_CONNECTED } from './not-connected.ts';
import { CHANGES, canChange, scopeTitle } from './scopes.ts';
import { trailSection } from './trail-list.ts';

export async function grantPage(
  sources: Sources<'grants' | 'scopes' | 'store' | 'times' | 'tools' | 'trail' | 'usage'>,
  { params }: ConsoleRequest,
): Promise<ConsoleAnswer> {
  const id = params.id ?? '';
  const [grant, trail] = await Promise.all([sources.grants.find(id), trailSection(sources, { grant: id })]);
  if (grant === undefined) {
    const body = html`<p class="notice">No active grant has this ID. It may have ended or expired.</p>
${trail}`;
    return { body };
  }
  const { member, clientId, scopes, resources, grantedAt, expiresAt } = grant;
  const [who, app, uses, unredeemed] = await Promise.all([
    memberName(sources, member),
    appName(sources, clientId),
    sources.usage.of(member),
    sources.grants.unredeemed([grant]),
  ]);
  const use = uses.get(id);
  const waits = use === undefined && unredeemed.has(id);
  const body = html`<section class="card">${facts([
    ['Member', html`<a href="${pathOfMember(member)}"><bdi>${who ?? member}</bdi></a>`],
    ['App', html`<a href="${pathOfApp(clientId)}"><bdi>${app}</bdi></a>`],
    ['Granted', sources.times.both(grantedAt * 1000)],
    ['Last used', waits ? NOT_CONNECTED : use === undefined ? 'never' : sources.times.both(use.lastUsedAt * 1000)],
    ['Expires', expiresAt === undefined ? 'never' : sources.times.both(expiresAt * 1000)],
    ['Resources', html`${resources.map((resource) => html`<code>${resource}</code><br>`)}`],
    ['Grant ID', html`<code>${id}</code>`],
  ])}
<div class="actions"><a class="button danger" href="${pathOf('grants', id, 'revoke')}">Disconnect…</a></div>
</section>
<div class="cards">
<section class="card"><h2>What it allows</h2>
<ul class="plain">${scopes.map((token) => html`<li>${scopeTitle(sources.scopes, token)} <code class="muted">${token}</code>${canChange(sources.scopes, [token]) && html` ${CHANGES}`}</li>`)}</ul></section>
<section class="card"><h2>Used in the last 30 days</h2>
${usesOf(sources, use?.areas)}</section>
</div>
${trail}`;
  return { title: `${who ?? member} – ${app}`, body };
}

type Areas = ReturnType<Awaited<ReturnType<Usage['of']>>['get']>;

function usesOf(sources: Sources<'scopes' | 'times' | 'tools'>, areas: NonNullable<Areas>['areas'] | undefined): Html {
  if (areas === undefined || areas.size === 0) return html`<p class="muted">Nothing.</p>`;
  const sorted = [...areas].toSorted(([, a], [, b]) => b.count - a.count);
  return html`<ul class="plain">${sorted.map(
    ([area, { count, last }]) =>
      html`<li>${areaText(sources, area)} <span class="muted">${count.toLocaleString('en')}×, last ${sources.times.ago(last * 1000)}</span></li>`,
  )}</ul>`;
}

/** What was used, as `areaOf` has counted it. */
function areaText({ scopes, tools }: Sources<'scopes' | 'tools'>, area: string): string {
  const colon = area.indexOf(':');
  const name = area.slice(colon + 1);
  switch (area.slice(0, Math.max(0, colon))) {
    case 'scope':
      return name
        .split(' ')
        .map((token) => scopeTitle(scopes, token))
        .join(', ');
    case 'field':
      return `Account API: ${name}`;
    case 'tool':
      return `Tool: ${tools.get(name) ?? name}`;
    case 'route':
      return name;
    default:
      return 'Other';
  }
}
