import { type Html, html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-route.ts';
import { facts } from '../facts.ts';
import type { DirectoryDeps } from './deps.ts';
import { appName, memberName } from './names.ts';
import { pathOf, pathOfApp, pathOfMember } from './paths.ts';
import { CHANGES, canChange, scopeTitle } from './scopes.ts';
import { trailSection } from './trail-list.ts';

export async function grantPage(deps: DirectoryDeps, { params }: ConsoleRequest): Promise<ConsoleAnswer> {
  const id = params.id ?? '';
  const [grant, trail] = await Promise.all([deps.grants.find(id), trailSection(deps, { grant: id })]);
  if (grant === undefined) {
    const body = html`<p class="notice">No active grant has this ID. It may have ended or expired.</p>
${trail}`;
    return { section: 'grants', title: 'Grant', body };
  }
  const { member, clientId, scopes, resources, grantedAt, expiresAt } = grant;
  const [who, app, uses] = await Promise.all([
    memberName(deps, member),
    appName(deps, clientId),
    deps.usage.of(member),
  ]);
  const use = uses.get(id);
  const body = html`<section class="card">${facts([
    ['Member', html`<a href="${pathOfMember(member)}"><bdi>${who ?? member}</bdi></a>`],
    ['App', html`<a href="${pathOfApp(clientId)}"><bdi>${app}</bdi></a>`],
    ['Granted', deps.times.both(grantedAt * 1000)],
    ['Last used', use === undefined ? 'never' : deps.times.both(use.lastUsedAt * 1000)],
    ['Expires', expiresAt === undefined ? 'never' : deps.times.both(expiresAt * 1000)],
    ['Resources', html`${resources.map((resource) => html`<code>${resource}</code><br>`)}`],
    ['Grant ID', html`<code>${id}</code>`],
  ])}
<div class="actions"><a class="button danger" href="${pathOf('grants', id, 'revoke')}">Disconnect…</a></div>
</section>
<div class="cards">
<section class="card"><h2>What it allows</h2>
<ul class="plain">${scopes.map((token) => html`<li>${scopeTitle(deps.scopes, token)} <code class="muted">${token}</code>${canChange(deps.scopes, [token]) && html` ${CHANGES}`}</li>`)}</ul></section>
<section class="card"><h2>Used in the last 30 days</h2>
${usesOf(deps, use?.areas)}</section>
</div>
${trail}`;
  return { section: 'grants', title: `${who ?? member} – ${app}`, body };
}

type Areas = ReturnType<Awaited<ReturnType<DirectoryDeps['usage']['of']>>['get']>;

function usesOf(deps: DirectoryDeps, areas: NonNullable<Areas>['areas'] | undefined): Html {
  if (areas === undefined || areas.size === 0) return html`<p class="muted">Nothing.</p>`;
  const sorted = [...areas].toSorted(([, a], [, b]) => b.count - a.count);
  return html`<ul class="plain">${sorted.map(
    ([area, { count, last }]) =>
      html`<li>${areaText(deps, area)} <span class="muted">${count.toLocaleString('en')}×, last ${deps.times.ago(last * 1000)}</span></li>`,
  )}</ul>`;
}

/** What was used, as `areaOf` has counted it. */
function areaText({ scopes, tools }: DirectoryDeps, area: string): string {
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
