import { ConnectError } from '../../connect/connect-error.ts';
import { readCourses } from '../../connect/courses.ts';
import { authorizationRequest, checkResponse } from '../../connect/oauth/authorization.ts';
import { discoverResource, discoverServer } from '../../connect/oauth/discovery.ts';
import { register } from '../../connect/oauth/registration.ts';
import {
  exchangeCode,
  introspectToken,
  refreshTokens,
  revokeToken,
  type TokenResponse,
} from '../../connect/oauth/tokens.ts';
import type { Transport } from '../../connect/oauth/transport.ts';
import type { LessonName, Step, Walk } from './walk.ts';

/** The work of a step. Must send its requests through `http`, and says in `facts` what it found. */
type Work = (walk: Walk, http: Transport, step: Step) => Promise<unknown>;

/** What each step does. A step that cannot do it throws. */
export const WORK: Readonly<Record<LessonName, Work>> = {
  async resource(walk, http, { facts }) {
    walk.resource = await discoverResource(walk.gate, http);
    facts.push(`The resource is ${walk.resource.resource}. Tokens must be issued for it.`);
  },
  async server(walk, http, { facts }) {
    walk.server = await discoverServer(found(walk.resource), http);
    facts.push(`The issuer is ${walk.server.issuer}, as the resource said.`, 'It supports PKCE with S256.');
  },
  async register(walk, http, { facts }) {
    const description = { name: 'Study Buddy', redirectUri: walk.redirectUri };
    walk.client = await register(found(walk.server), found(walk.resource), description, http);
    facts.push('A public client: it has no secret and is protected by PKCE.');
  },
  async authorize(walk, _http, { facts, exchanges }) {
    walk.request = await authorizationRequest(found(walk.client), walk.redirectUri, walk.scope);
    exchanges.push({ method: 'GET', url: walk.request.url, headers: [], body: undefined });
    facts.push('The browser carries this request; Study Buddy itself sends nothing here.');
  },
  async approve(walk, _http, { facts }) {
    const failed = found(walk.callback).searchParams.has('error');
    facts.push(`The browser came back with ${failed ? 'an error instead of a code' : 'a code'}.`);
  },
  async callback(walk, _http, { facts, exchanges }) {
    const { href, searchParams } = found(walk.callback);
    exchanges.push({ method: 'GET', url: href, headers: [], body: undefined });
    facts.push('state matches step 4.');
    walk.response = checkResponse(found(walk.client), found(walk.request), searchParams);
    facts.push(`iss is ${walk.response.get('iss') ?? 'not sent'}, as expected from step 2.`);
  },
  async token(walk, http, { facts }) {
    const answer = await exchangeCode(found(walk.client), found(walk.request), found(walk.response), http);
    const lifetime = keepTokens(walk, answer);
    facts.push(`Approved: ${walk.tokens?.scope}.`, lifetime);
  },
  async read(walk, http, { facts }) {
    const { access, scope } = found(walk.tokens);
    walk.courses = await readCourses(walk.gate, access, scope, http);
    facts.push(`${walk.courses.total} courses, from the ${walk.courses.source}.`);
  },
  async refresh(walk, http, { facts }) {
    const { refresh } = found(walk.tokens);
    if (refresh === undefined) {
      const advice = 'Connect again when the access token has expired.';
      throw new ConnectError('The school issued no refresh token.', advice);
    }
    facts.push(keepTokens(walk, await refreshTokens(found(walk.client), refresh, http)));
  },
  async introspect(walk, http, { facts }) {
    const { active, aud } = await introspectToken(found(walk.client), found(walk.tokens).access, http);
    facts.push(active ? 'The token is active.' : 'The token is not active: it will not be accepted anywhere.');
    if (aud !== undefined) facts.push(`It is bound to ${[aud].flat().join(', ')}.`);
  },
  // Revokes both tokens. The access token is kept in memory only to show that it is refused.
  async revoke(walk, http, { facts }) {
    const { refresh, access } = found(walk.tokens);
    for (const token of [refresh, access]) if (token !== undefined) await revokeToken(found(walk.client), token, http);
    facts.push('The school answers the same for known and unknown tokens: guessing reveals nothing.');
    walk.over = 'revoked';
    walk.courses = undefined;
  },
  // With the revoked token, a refusal is the success, and data would be a failure.
  async refused({ gate, tokens }, http) {
    await readCourses(gate, found(tokens).access, found(tokens).scope, http);
    const advice = 'Its replicas may learn of a revocation a few seconds late: try again.';
    throw new ConnectError('The school still accepted a revoked token.', advice);
  },
};

/** Stores and describes new tokens. Without a new refresh token, the old one remains valid (RFC 6749 section 6). */
function keepTokens(walk: Walk, { access_token, refresh_token, expires_in, scope }: TokenResponse): string {
  walk.tokens = {
    access: access_token,
    refresh: refresh_token ?? walk.tokens?.refresh,
    scope: scope ?? walk.tokens?.scope ?? walk.scope,
  };
  const access = expires_in === undefined ? 'has no stated lifetime' : `is valid for ${expires_in} s`;
  const refresh = refresh_token === undefined ? 'there is no refresh token' : 'a refresh token was issued too';
  return `The access token ${access}; ${refresh}.`;
}

/** What an earlier step left in the walk. */
function found<T>(value: T | undefined): T {
  if (value === undefined) throw new ConnectError('An earlier step is missing.', 'Start over.');
  return value;
}
