import * as client from 'openid-client';
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
  /** Undefined: we are a public client. */
  readonly clientSecret: string | undefined;
  /** Seconds for one answer. */
  readonly timeout: number;
  readonly clock: Clock;
}

/** What must be known when the browser comes back. */
interface Kept {
  readonly verifier: string;
  readonly nonce: string;
}

/**
 * The `oidc` connector, one provider of it: the code flow with PKCE, nonce and state, and the `iss` of the answer
 * (OpenID Connect Core §3.1, RFC 7636, RFC 9207). The provider's tokens are read once and kept nowhere.
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
    // The library holds its claims to ours; that the provider signed them is shown here, TLS or not.
    const { clientId: audience, algorithms } = provider;
    const said = await verifySignedToken(tokens.id_token ?? '', { keys, issuer, audience, algorithms, clock });
    const endpoint = configuration.serverMetadata().userinfo_endpoint;
    if (endpoint === undefined || !lacksClaims(provider, said)) return said;
    const more = await client.fetchUserInfo(configuration, tokens.access_token, said.sub ?? '');
    return withUserinfo(provider, said, more);
  }
}

/** Throws GatewayError `login_unavailable` when the provider names no page that a member could safely be sent to. */
function signInPage(configuration: client.Configuration, query: Record<string, string>): URL {
  const named = configuration.serverMetadata().authorization_endpoint ?? '';
  if (!URL.canParse(named) || !isSafeUrl(new URL(named)))
    throw unavailable(`its sign-in page is ${named || 'unnamed'}`);
  return client.buildAuthorizationUrl(configuration, query);
}

/** OpenID Connect Core §3.1.2.1. A hint would choose for whoever wants to be somebody else. */
function asked({ prompt, allow }: OidcProviderConfig, wish: SignInWish): Record<string, string> {
  const choosy = allow.emailDomains !== undefined || Object.keys(allow.claims).length > 0;
  const prompts = new Set(prompt === undefined ? [] : [prompt]);
  if (wish.fresh === true) prompts.add('login');
  // Whoever came with an account that is not let in must be able to come with another.
  if (wish.another === true || (choosy && prompts.size === 0)) prompts.add('select_account');
  return {
    ...(prompts.size === 0 ? {} : { prompt: [...prompts].join(' ') }),
    ...(wish.loginHint === undefined || wish.another === true ? {} : { login_hint: wish.loginHint }),
    ...(wish.uiLocales === undefined ? {} : { ui_locales: wish.uiLocales }),
    ...(wish.maxAge === undefined ? {} : { max_age: String(wish.maxAge) }),
    ...(wish.acrValues === undefined ? {} : { acr_values: wish.acrValues }),
  };
}
