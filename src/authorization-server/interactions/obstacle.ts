import { decodeJwt } from 'jose';
import type { Member } from '../../login/connector.ts';
import { expectedPage, suspendedPage, unconfirmedPage } from '../pages/login.ts';
import { finish } from './finish.ts';
import type { InteractionParts } from './interaction-parts.ts';
import { auditPending, openWishesOf, type Pending, requestedScopes, signInUrl, stopView } from './pending.ts';
import { asksForTime } from './sign-in-wishes.ts';

/** Why a request cannot be answered for the member who is signed in, whatever they decide. */
export type Obstacle =
  /** The app must know when the member signed in, and the login does not say. No other sign-in would help. */
  | { readonly kind: 'unknown_time' }
  /** The `id_token_hint` is about another member. */
  | { readonly kind: 'another_member'; readonly expected: string };

/**
 * What the app is told when the member goes back to it. `unmet_authentication_requirements` is final, while the app can
 * repeat a request that got `login_required` (OpenID Connect Core sections 3.1.2.1 and 3.1.2.6).
 */
export const OBSTACLE_ERRORS = {
  unknown_time: {
    error: 'unmet_authentication_requirements',
    error_description:
      'the login does not say when the member signed in, as prompt=login, max_age or require_auth_time need',
  },
  another_member: {
    error: 'login_required',
    error_description: 'the member who is signed in is not the one that id_token_hint is about',
  },
} as const satisfies Record<Obstacle['kind'], object>;

/**
 * @param member - undefined if no one is signed in. A sign-in that has not been made yet may still meet the request,
 * unless the login never knows its time.
 */
export function obstacleOf(
  { connector }: InteractionParts,
  pending: Pending,
  member: Member | undefined,
): Obstacle | undefined {
  const timeUnknown = member === undefined ? !connector.knowsAuthTime : member.authTime === undefined;
  if (timeUnknown && asksForTime(openWishesOf(pending, member))) return { kind: 'unknown_time' };
  const expected = hintedSubject(pending);
  if (member === undefined || expected === undefined || expected === member.sub) return undefined;
  return { kind: 'another_member', expected };
}

/**
 * The member that the app expects. oidc-provider has verified the hint's signature, issuer and audience before it began
 * the interaction. `sub` is the same for every client.
 */
function hintedSubject({ interaction }: Pending): string | undefined {
  const { id_token_hint: hint } = interaction.params;
  return typeof hint === 'string' ? decodeJwt(hint).sub : undefined;
}

/**
 * Shows the page for an obstacle. It names the expected member only by the id in the hint, which the app knows: with the
 * name from our records, anyone who holds an ID token could find out whose it is.
 */
export function showObstacle(
  parts: InteractionParts,
  pending: Pending,
  member: Member | undefined,
  obstacle: Obstacle,
): void {
  auditPending(parts, pending, {
    action: 'sign_in_failed',
    member: member?.sub,
    reason: 'not_as_asked_for',
  });
  const view = stopView(parts, pending, member);
  parts.pages.send(pending.exchange.response, 200, (words) =>
    obstacle.kind === 'unknown_time'
      ? unconfirmedPage(words, view)
      : expectedPage(words, {
          ...view,
          expected: obstacle.expected,
          switchAccount: signInUrl(parts, pending, { another: true }),
        }),
  );
}

/** Returns whether the backend has suspended the member, in which case the page that says so has been sent. */
export async function refuseSuspended(parts: InteractionParts, pending: Pending, member: Member): Promise<boolean> {
  if ((await parts.suspensions.since(member.sub)) === undefined) return false;
  auditPending(parts, pending, { action: 'sign_in_failed', member: member.sub, reason: 'suspended' });
  const view = stopView(parts, pending, member);
  parts.pages.send(pending.exchange.response, 403, (words) => suspendedPage(words, view));
  return true;
}

/** Goes back to the app if the member has the role for nothing that it asks for. Returns whether it did. */
export async function refuseWithoutRole(parts: InteractionParts, pending: Pending, member: Member): Promise<boolean> {
  const requested = requestedScopes(pending.interaction);
  const offered = await parts.roleScopes.held(member.sub, requested);
  if (offered.size > 0 || requested.size === 0) return false;
  const refusal = {
    error: 'invalid_scope',
    error_description: 'the member does not have a role that these scopes need',
  };
  await finish(parts, pending, refusal, { action: 'consent_denied', member: member.sub, reason: 'role' });
  return true;
}
