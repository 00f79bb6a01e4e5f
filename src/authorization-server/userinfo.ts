import { GatewayError } from '../errors.ts';
import { json, writeAnswer } from '../http/answer.ts';
import type { Handler } from '../http/exchange.ts';

/**
 * Claims about the member, by scope (OpenID Connect Core section 5.3), for the same access token as every other
 * endpoint. It runs behind the gate, which requires `openid`.
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
