import type { Member } from '../../login/connector.ts';
import { unixSeconds } from '../../storage/store.ts';
import { grantLifetime } from '../consent-grant.ts';
import { appView, isMore, permissionsOf } from '../consent-view.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { accountOf } from '../members.ts';
import { consentPage } from '../pages/consent.ts';
import { createDates } from '../pages/dates.ts';
import { PageFailure } from '../pages/page-failure.ts';
import type { InteractionParts } from './interaction-parts.ts';
import { cancelForm, notePending, type Pending, requestedScopes } from './pending.ts';

/**
 * Sends the consent page. `nothingTicked`: it is shown again because nothing was ticked, and nothing is ticked now.
 * Throws PageFailure `invalid_request` when the app was deleted or disabled in the meantime.
 */
export async function showConsent(
  parts: InteractionParts,
  { exchange, interaction, client }: Pending,
  member: Member,
  nothingTicked = false,
): Promise<void> {
  const { pages, grants, timeZone } = parts;
  notePending({ exchange, interaction, client }, 'consent', { outcome: 'shown', member: member.sub });
  if (client === undefined) throw new PageFailure('invalid_request', 'failure.app_gone');
  const form = cancelForm(parts, interaction, member.sub);
  const app = appView(client, String(interaction.params.redirect_uri), pages.school);
  const held = await grants.held(member.sub, client.clientId);
  const { scopes: requested, courses } = await parts.roleScopes.offered(member.sub, requestedScopes(interaction));
  const now = unixSeconds(parts.clock);
  const view = {
    app,
    account: accountOf(member),
    connection: held && { since: held.since, asksForMore: isMore(requested, held.scopes) },
    endsAt: now + grantLifetime(parts.provider()),
    connectedApps: ENDPOINTS.apps,
    ownSession: parts.sessions !== undefined,
    permissions: permissionsOf(requested, parts.scopes, {
      app,
      held: held?.scopes ?? new Set(),
      nothingTicked,
      courses,
    }),
    ...form,
    switchAccount: `${form.action}/switch`,
    nothingTicked,
  };
  pages.send(exchange.response, nothingTicked ? 400 : 200, (words) =>
    consentPage(words, createDates(words.locales, timeZone, now), view),
  );
}
