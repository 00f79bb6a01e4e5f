import type Provider from 'oidc-provider';
import type { errors, KoaContextWithOIDC } from 'oidc-provider';

/**
 * Why a code or refresh token was refused (RFC 6749 section 5.2), in words that help the client's developer. A value
 * that belongs to another client is described as "not known", too, so that its existence is not revealed.
 */
const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'authorization code not found': 'the code is not known here: it was mistyped, used, or has expired',
  'authorization code is expired': 'the code is not known here: it was mistyped, used, or has expired',
  'authorization code redirect_uri mismatch': 'redirect_uri is not the one of the authorization request',
  'code_verifier must be provided':
    'code_verifier is missing: the authorization request had a code_challenge made with S256',
  'code_verifier does not match code_challenge':
    'code_verifier does not match the code_challenge of the authorization request (S256)',
  'missing DPoP proof JWT': 'a DPoP proof is needed: the authorization request bound the code to a key',
  'failed jkt verification': 'the refresh token is bound to a key: send a DPoP proof made with that key',
  'DPoP proof key thumbprint does not match dpop_jkt': 'the code is bound to another key than the DPoP proof shows',
  'refresh token not found': 'the refresh token is not known here: it was mistyped, revoked, or has expired',
  'refresh token is expired': 'the refresh token is not known here: it was mistyped, revoked, or has expired',
  'authorization code invalid (referenced account not found)': 'the school lets this member connect no apps',
  'refresh token invalid (referenced account not found)':
    'the school lets this member connect no apps, or their account has changed: the member must approve again',
  'grant not found': 'the member or the app has ended this connection',
  'grant is expired': 'this connection has reached its longest lifetime; the member must approve again',
};

const CLIENT_MISMATCH: Readonly<Record<string, string>> = {
  authorization_code: 'authorization code not found',
  refresh_token: 'refresh token not found',
};

/** RFC 6749 section 5.2 has a separate error code for this, but the library answers `invalid_request`. */
const NOT_REGISTERED = 'requested grant type is not allowed for this client';

/** Adds these descriptions to the errors of the token endpoint. */
export function grantErrorRule(provider: Provider): void {
  provider.on('grant.error', (ctx: KoaContextWithOIDC, error: errors.OIDCProviderError) => {
    const grantType = String(ctx.oidc.params?.grant_type);
    const reason = error.error_detail === 'client mismatch' ? CLIENT_MISMATCH[grantType] : error.error_detail;
    const description = DESCRIPTIONS[reason ?? ''];
    if (error.error === 'invalid_grant' && description !== undefined)
      ctx.body = { error: 'invalid_grant', error_description: description };
    if (error.error_description === NOT_REGISTERED)
      ctx.body = { error: 'unauthorized_client', error_description: NOT_REGISTERED };
  });
}
