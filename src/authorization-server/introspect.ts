import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { Introspect, Introspection } from '../oauth/introspection.ts';
import { detailsOf } from '../oauth/member-details.ts';
import { parseScope } from '../oauth/scope.ts';
import type { Members } from './members.ts';

const INACTIVE: Introspection = { active: false };

/**
 * In-process introspection of access tokens. Like oidc-provider's endpoint (RFC 7662 section 2.2), it checks the token
 * and its grant, which must be active and of the same client and member. A token alone proves nothing: one that was
 * saved by the loser of a race outlives its grant.
 */
export function createIntrospect(provider: Provider, members: Members): Introspect {
  return async (value) => {
    const token = await provider.AccessToken.find(value);
    if (token === undefined || token.isExpired || token.grantId === undefined || token.clientId === undefined)
      return INACTIVE;
    const [grant, client, member] = await Promise.all([
      provider.Grant.find(token.grantId),
      knownClient(provider, token.clientId),
      members.find(token.accountId),
    ]);
    if (grant === undefined || client === undefined || member === undefined) return INACTIVE;
    if (grant.isExpired || grant.clientId !== token.clientId || grant.accountId !== token.accountId) return INACTIVE;
    const scope = parseScope(token.scope ?? '');
    if (scope === undefined || token.exp === undefined) return INACTIVE;
    return {
      active: true,
      sub: token.accountId,
      clientId: token.clientId,
      scope,
      aud: token.aud === undefined ? [] : [token.aud].flat(),
      exp: token.exp,
      grantId: token.grantId,
      jkt: token.jkt,
      details: detailsOf(member),
    };
  };
}

/** A client with a metadata document can be refused during the look-up. It then no longer counts as a client. */
async function knownClient(provider: Provider, clientId: string) {
  try {
    return await provider.Client.find(clientId);
  } catch (thrown) {
    if (thrown instanceof errors.OIDCProviderError && thrown.statusCode < 500) return undefined;
    throw thrown;
  }
}
