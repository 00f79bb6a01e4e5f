import type { ClaimsConfig } from '../config/claims.ts';
import { GatewayError } from '../errors.ts';
import { json, writeAnswer } from '../http/answer.ts';
import type { Handler } from '../http/exchange.ts';
import { knownDetails } from '../oauth/member-details.ts';
import { releasedClaims } from './claims.ts';
import type { Members } from './members.ts';

/**
 * Claims about the member, by scope (OpenID Connect Core section 5.3), for the same access token as every other
 * endpoint. It runs behind the gate, which requires `openid`.
 */
export function createUserinfo(members: Members, claims: ClaimsConfig): Handler {
  return async ({ response, principal }) => {
    const member = principal.kind === 'member' ? await members.find(principal.sub) : undefined;
    if (principal.kind !== 'member' || member === undefined) throw new GatewayError('internal');
    const { sub, scope } = principal;
    const released = knownDetails(member).filter(([detail]) => scope.has(detail.scope));
    const said = {
      sub,
      ...Object.fromEntries(released.map(([{ claim }, value]) => [claim, value])),
      ...(scope.has('email') && member.email !== undefined ? { email_verified: member.emailVerified } : {}),
      ...releasedClaims(claims, member, scope),
    };
    writeAnswer(response, json(200, said, { 'cache-control': 'no-store' }));
  };
}
