import { GatewayError } from '../errors.ts';
import { json, writeAnswer } from '../http/answer.ts';
import type { Handler } from '../http/exchange.ts';

/**
 * OpenID Connect Core §5.3: claims about the member, by scope, for the same token that opens every other door. It stands
 * behind the gate, which has asked for `openid`.
 */
export const userinfo: Handler = ({ response, principal }) => {
  if (principal.kind !== 'member') throw new GatewayError('internal');
  const claims = {
    sub: principal.sub,
    ...(principal.scope.has('email') && principal.email !== undefined ? { email: principal.email } : {}),
    ...(principal.scope.has('profile') && principal.name !== undefined ? { name: principal.name } : {}),
  };
  writeAnswer(response, json(200, claims, { 'cache-control': 'no-store' }));
};
