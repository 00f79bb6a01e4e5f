import { html } from '../../../http/html.ts';
import type { ConsoleAnswer, ConsoleRequest } from '../console-page.ts';
import { facts } from '../kit/facts.ts';
import { appLink, memberLink } from '../kit/links.ts';
import { pathOf } from '../paths.ts';
import type { ConsoleSources } from '../sources.ts';
import { NOT_CONNECTED } from './columns.ts';
import { appName, memberName } from './party.ts';
import { powers } from './powers.ts';
import { trailSection } from './trail-list.ts';
import { usesTable } from './uses.ts';

export async function grantPage(sources: ConsoleSources, { params }: ConsoleRequest): Promise<ConsoleAnswer> {
  const id = params.id ?? '';
  const [grant, trail] = await Promise.all([sources.grants.find(id), trailSection(sources, { grant: id })]);
  if (grant === undefined) {
    const body = html`<p class="notice">No active grant has this ID. It may have ended or expired.</p>
${trail}`;
    return { body };
  }
  const { member, clientId, scopes, resources, grantedAt, expiresAt } = grant;
  const [who, app, uses, unredeemed] = await Promise.all([
    memberName(sources.store, member),
    appName(sources.store, clientId),
    sources.usage.of(member),
    sources.grants.unredeemed([grant]),
  ]);
  const use = uses.get(id);
  const waits = use === undefined && unredeemed.has(id);
  const body = html`<section class="card">${facts([
    ['Member', memberLink({ id: member, name: who })],
    ['App', appLink({ id: clientId, name: app })],
    ['Granted', sources.times.both(grantedAt * 1000)],
    ['Last used', waits ? NOT_CONNECTED : use === undefined ? 'never' : sources.times.both(use.lastUsedAt * 1000)],
    ['Expires', expiresAt === undefined ? 'never' : sources.times.both(expiresAt * 1000)],
    ['Resources', html`${resources.map((resource) => html`<code>${resource}</code><br>`)}`],
    ['Grant ID', html`<code>${id}</code>`],
  ])}
<div class="actions"><a class="button danger" href="${pathOf('grants', id, 'revoke')}">Disconnect…</a></div>
</section>
${powers(sources, [{ scopes: new Set(scopes) }])}
<section class="card"><h2>Used in the last 30 days</h2>
${usesTable(sources, use === undefined ? [] : [use])}</section>
${trail}`;
  return { title: `${who} – ${app}`, body };
}
