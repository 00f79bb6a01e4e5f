import { GatewayError } from '../../errors.ts';
import { readBody } from '../../http/body.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Member } from '../../login/connector.ts';
import { csrfToken, isCsrfToken, refuseCrossSite } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { InteractionParts } from '../interactions/interaction-parts.ts';
import { preferLanguages, redirect } from '../pages/pages.ts';
import { type SignOutForm, signedOutPage } from '../pages/sign-out.ts';
import { appsPath, type CarriedParameters, carriedBy } from './target.ts';

type Parts = Pick<InteractionParts, 'audit' | 'connector' | 'csrfKeys' | 'origin' | 'pages'>;

const BODY_LIMIT = 4 * 1024;
/** What its CSRF token is for. */
const ACT = 'sign-out';

/** The form on a member's page; undefined if the sign-in is the site's own session, which the gate cannot end. */
export function signOutFormOf(
  { connector, csrfKeys }: Parts,
  { sub }: Member,
  { ui_locales }: CarriedParameters,
): SignOutForm | undefined {
  if (connector.signOut === undefined) return undefined;
  const csrf = csrfToken(csrfKeys, ACT, sub);
  return { action: `${ENDPOINTS.apps}/sign-out`, fields: { csrf, ...(ui_locales && { ui_locales }) } };
}

/**
 * Ends the gate's own sign-in of this browser. oidc-provider's session may stay: every authorization request asks again
 * who the member is. Connected apps keep their access.
 *
 * @throws {GatewayError} `forbidden` for a form of another site, `not_found` where there is nothing to end
 */
export async function signOut(parts: Parts, { request, response, provenance }: Exchange): Promise<void> {
  const { connector, origin } = parts;
  if (connector.signOut === undefined) throw new GatewayError('not_found');
  refuseCrossSite(request, origin);
  const form = new URLSearchParams((await readBody(request, BODY_LIMIT)).toString('utf8'));
  const carried = carriedBy(form);
  preferLanguages(carried.ui_locales);
  const member = await connector.identify(request.headers, provenance);
  // Another member has signed in since the page was shown. They see their own list.
  if (member !== undefined && !isCsrfToken(form.get('csrf'), parts.csrfKeys, ACT, member.sub))
    return redirect(response, appsPath(carried));
  response.setHeader('set-cookie', await connector.signOut(request.headers));
  if (member !== undefined)
    parts.audit({ action: 'session_ended', member: member.sub, clientId: undefined, grantId: undefined });
  parts.pages.send(response, 200, (words) => signedOutPage(words, appsPath(carried)));
}
