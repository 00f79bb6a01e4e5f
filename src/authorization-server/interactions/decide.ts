import { consentDenied, consentGiven } from '../../events/event.ts';
import { readBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Member } from '../../login/connector.ts';
import { saveGrant } from '../consent-grant.ts';
import { isCsrfToken, refuseCrossSite } from '../csrf.ts';
import { describeClient } from '../event-client.ts';
import { redirect } from '../pages/pages.ts';
import { finish } from './finish.ts';
import type { InteractionParts } from './interaction-parts.ts';
import { OBSTACLE_ERRORS, obstacleOf, refuseSuspended, refuseWithoutRole } from './obstacle.ts';
import {
  findPending,
  type Interaction,
  interactionPath,
  type Pending,
  requestedResources,
  requestedScopes,
} from './pending.ts';
import { showConsent } from './show-consent.ts';

const BODY_LIMIT = 16 * 1024;

/** Takes the answer that the member gave on the consent page. */
export async function decide(parts: InteractionParts, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  refuseCrossSite(request, parts.origin);
  const pending = await findPending(parts, exchange);
  const { interaction } = pending;
  const form = new URLSearchParams((await readBody(request, BODY_LIMIT)).toString('utf8'));
  const member = await parts.connector.identify(request.headers, exchange.provenance);
  if (!isCsrfToken(form.get('csrf'), parts.csrfKeys, interaction.uid, member?.sub ?? '')) {
    // Another member may have signed in since the page was shown: ask them, instead of answering for them.
    return redirect(response, interactionPath(interaction));
  }
  // A double click: the first request has answered already.
  if (interaction.result?.consent !== undefined) return redirect(response, interaction.returnTo);
  if (form.get('decision') === 'deny') return deny(parts, pending, member);
  const isMemberAsked = member !== undefined && interaction.session?.accountId === member.sub;
  if (form.get('decision') !== 'approve' || !isMemberAsked || obstacleOf(parts, pending, member) !== undefined)
    return redirect(response, interactionPath(interaction));
  if (await refuseSuspended(parts, pending, member)) return;
  if (await refuseWithoutRole(parts, pending, member)) return;
  await approve(parts, pending, member, {
    ticked: new Set(form.getAll('scope')),
    held: new Set(form.getAll('held')),
  });
}

/** The boxes that are ticked, and what the page says that the app has already. */
interface Answer {
  readonly ticked: ReadonlySet<string>;
  readonly held: ReadonlySet<string>;
}

async function deny(parts: InteractionParts, pending: Pending, member: Member | undefined): Promise<void> {
  const { interaction } = pending;
  const requested = {
    scopes: [...requestedScopes(interaction)],
    resources: requestedResources(parts, interaction),
  };
  // Of a double click, only the first is reported.
  const isRepeated = interaction.result?.error !== undefined;
  const event = isRepeated
    ? undefined
    : consentDenied(interaction.uid, requested, await appOf(parts, interaction), member?.sub);
  const obstacle = obstacleOf(parts, pending, member);
  const result =
    obstacle === undefined
      ? { error: 'access_denied', error_description: 'the member did not approve' }
      : OBSTACLE_ERRORS[obstacle.kind];
  await finish(parts, pending, result, { action: 'consent_denied', member: member?.sub }, event);
}

async function approve(
  parts: InteractionParts,
  pending: Pending,
  member: Member,
  { ticked, held }: Answer,
): Promise<void> {
  const provider = parts.provider();
  const { exchange, interaction } = pending;
  const clientId = String(interaction.params.client_id);
  const requested = [...requestedScopes(interaction)];
  const offered = await parts.roleScopes.held(member.sub, new Set(requested));
  // The member may have disconnected the app since the page was shown.
  const still = held.size === 0 ? undefined : await parts.grants.held(member.sub, clientId);
  const isHeld = (scope: string) => held.has(scope) && still?.scopes.has(scope) === true;
  // `openid` has no box: the member grants it by approving at all. Approving that alone, when the app asked for more, is
  // more likely a slip than a decision, and the app could do nothing with it: the page is shown again. The
  // same applies to what the app has already.
  const boxes = [...offered].filter((scope) => scope !== 'openid');
  if (boxes.some((scope) => !isHeld(scope)) && !boxes.some((scope) => ticked.has(scope)))
    return showConsent(parts, pending, member, true);

  const granted = [...offered].filter((scope) => scope === 'openid' || ticked.has(scope) || isHeld(scope));
  const client = await appOf(parts, interaction);
  const resources = requestedResources(parts, interaction);
  const grantId = await saveGrant(provider, {
    member: member.sub,
    clientId,
    granted,
    rejected: requested.filter((scope) => !granted.includes(scope)),
    resources,
  });
  try {
    const { headers } = exchange.request;
    await parts.sessions?.keep(grantId, (await parts.connector.siteCookies?.(headers)) ?? headers.cookie ?? '');
    const event = consentGiven({ id: grantId, member: member.sub, client, scopes: granted, resources });
    const audited = { action: 'consent_given', member: member.sub, grantId } as const;
    await finish(parts, pending, { consent: { grantId } }, audited, event);
  } catch (thrown) {
    // The answer failed, so no token can ever be issued for this grant.
    await (await provider.Grant.find(grantId))?.destroy();
    throw thrown;
  }
}

function appOf({ store }: InteractionParts, { params }: Interaction) {
  return describeClient(store, String(params.client_id), String(params.redirect_uri));
}
