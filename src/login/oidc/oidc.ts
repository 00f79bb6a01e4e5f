import * as client from 'openid-client';
import { SIGNING_ALGORITHMS } from '../../config/constants.ts';
import type { OidcProviderConfig } from '../../config/oidc-login.ts';
import type { Clock } from '../../storage/store.ts';
import type { SignInProvider, SignInWish } from '../connector.ts';
import { isSafeUrl, outboundFetch, unavailable } from '../outbound-fetch.ts';
import { verifySignedToken } from '../signed-token/verify.ts';
import { type Claims, lacksClaims, memberOf, withUserinfo } from './account.ts';
import { createDiscovery, type Discovered } from './discovery.ts';
import { failureOf, isNobody } from './failure.ts';

export interface OidcOptions {
  readonly provider: OidcProviderConfig;
  /** Undefined for a public client. */
  readonly clientSecret: string | undefined;
  /** Seconds for one response. */
  readonly timeout: number;
  readonly clock: Clock;
}

/** What is needed when the browser returns. */
interface Kept {
  readonly verifier: string;
  readonly nonce: string;
}

/**
 * One provider of the `oidc` login: the code flow with PKCE, nonce, state, and a check of the response's `iss` (OpenID
 * Connect Core section 3.1, RFC 7636, RFC 9207). The provider's tokens are read once and not stored.
 */
export function oidcProvider({ provider, clientSecret, timeout, clock }: OidcOptions): SignInProvider {
  const { issuer } = provider;
  const fetch = outboundFetch({ timeout, loopback: new URL(issuer).protocol === 'http:' });
  const discover = createDiscovery({ provider, clientSecret, fetch, clock });

  return {
    id: provider.id,
    name: provider.name,

    async begin({ state, callback, wish }) {
      const { configuration } = await discover();
      const [verifier, nonce] = [client.randomPKCECodeVerifier(), client.randomNonce()];
      const url = signInPage(configuration, {
        redirect_uri: callback.href,
        response_mode: 'query',
        scope: provider.scope,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...asked(provider, wish),
      });
      return { url, kept: JSON.stringify({ verifier, nonce } satisfies Kept) };
    },

    stateOf(query) {
      const states = query.getAll('state');
      return states.length === 1 ? states[0] : undefined;
    },

    async finish({ query, callback, kept }) {
      const found = await discover();
      const claims = await redeem(found, { query, callback, kept: JSON.parse(kept) as Kept }).catch(
        (thrown: unknown) => {
          if (isNobody(thrown)) return undefined;
          throw failureOf(thrown, issuer);
        },
      );
      return claims === undefined ? undefined : memberOf(provider, claims);
    },
  };

  async function redeem(
    { configuration, keys }: Discovered,
    { query, callback, kept }: { query: URLSearchParams; callback: URL; kept: Kept },
  ): Promise<Claims> {
    const answered = new URL(callback);
    answered.search = query.toString();
    const tokens = await client.authorizationCodeGrant(configuration, answered, {
      pkceCodeVerifier: kept.verifier,
      expectedNonce: kept.nonce,
      expectedState: query.get('state') ?? '',
      idTokenExpected: true,
    });
    // The library checks the claims. The signature is verified here in any case, without relying on TLS.
    const { clientId: audience } = provider;
    const said = await verifySignedToken(tokens.id_token ?? '', {
      keys,
      issuer,
      audience,
      algorithms: SIGNING_ALGORITHMS,
      clock,
    });
    const endpoint = configuration.serverMetadata().userinfo_endpoint;
    if (endpoint === undefined || !lacksClaims(provider, said)) return said;
    const more = await client.fetchUserInfo(configuration, tokens.access_token, said.sub ?? '');
    return withUserinfo(provider, said, more);
  }
}

/** @throws {GatewayError} `login_unavailable` when the provider's sign-in page is missing or not safe to redirect to */
function signInPage(configuration: client.Configuration, query: Record<string, string>): URL {
  const named = configuration.serverMetadata().authorization_endpoint ?? '';
  if (!URL.canParse(named) || !isSafeUrl(new URL(named)))
    throw unavailable(`its authorization_endpoint is ${named || 'missing'}`);
  return client.buildAuthorizationUrl(configuration, query);
}

/**
 * The parameters of OpenID Connect Core section 3.1.2.1. `login_hint` is omitted for a member who wants to use another
 * account, since it would select the one in the hint.
 */
function asked({ prompt, allow }: OidcProviderConfig, wish: SignInWish): Record<string, string> {
  const choosy = allow.emailDomains !== undefined || Object.keys(allow.claims).length > 0;
  const prompts = new Set(prompt === undefined ? [] : [prompt]);
  if (wish.fresh === true) prompts.add('login');
  // A member whose account is not allowed must be able to choose another one.
  if (wish.another === true || (choosy && prompts.size === 0)) prompts.add('select_account');
  return {
    ...(prompts.size === 0 ? {} : { prompt: [...prompts].join(' ') }),
    ...(wish.loginHint === undefined || wish.another === true ? {} : { login_hint: wish.loginHint }),
    ...(wish.uiLocales === undefined ? {} : { ui_locales: wish.uiLocales }),
    ...(wish.maxAge === undefined ? {} : { max_age: String(wish.maxAge) }),
    ...(wish.acrValues === undefined ? {} : { acr_values: wish.acrValues }),
  };
}
