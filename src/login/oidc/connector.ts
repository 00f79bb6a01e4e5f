import * as oauth from 'oauth4webapi';
import { SIGNING_ALGORITHMS as algorithms } from '../../config/constants.ts';
import type { Clock } from '../../storage/store.ts';
import type { Login, SignInProvider, SignInWish } from '../connector.ts';
import type { LoginParts } from '../login-parts.ts';
import { isSafeUrl, outboundFetch, unavailable } from '../outbound-fetch.ts';
import { verifySignedToken } from '../signed-token/verify.ts';
import { type Claims, lacksClaims, memberOf, withUserinfo } from './account.ts';
import { createDiscovery, type Discovered, providerTransport } from './discovery.ts';
import { failureOf, isNobody } from './failure.ts';
import type { OidcLoginConfig, OidcProviderConfig } from './settings.ts';

/** What is needed when the browser returns. */
interface Kept {
  readonly verifier: string;
  readonly nonce: string;
}

export function open({ providers, timeout }: OidcLoginConfig, { secrets, clock }: LoginParts): Login {
  return {
    shape: 'redirect',
    providers: providers.map((provider, index) => {
      const clientSecret = secrets.get(`login.providers[${index}].clientSecret`);
      return oidcProvider(provider, clientSecret, timeout, clock);
    }),
  };
}

/**
 * One provider of the `oidc` login: the code flow with PKCE, nonce, state, and a check of the response's `iss` (OpenID
 * Connect Core section 3.1, RFC 7636, RFC 9207). The provider's tokens are read once and not stored.
 *
 * @param clientSecret - undefined for a public client
 * @param timeout - seconds for one response
 */
export function oidcProvider(
  provider: OidcProviderConfig,
  clientSecret: string | undefined,
  timeout: number,
  clock: Clock,
): SignInProvider {
  const { issuer } = provider;
  const fetch = outboundFetch({ timeout, loopback: new URL(issuer).protocol === 'http:' });
  const discover = createDiscovery(issuer, fetch, clock);
  const transport = providerTransport(fetch);

  return {
    id: provider.id,
    name: provider.name,

    async begin({ state, callback, wish }) {
      const { server } = await discover();
      const [verifier, nonce] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomNonce()];
      const url = signInPage(server, {
        client_id: provider.clientId,
        redirect_uri: callback.href,
        response_type: 'code',
        response_mode: 'query',
        scope: provider.scope,
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
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
    { server, keys }: Discovered,
    { query, callback, kept }: { query: URLSearchParams; callback: URL; kept: Kept },
  ): Promise<Claims> {
    const { clientId: audience } = provider;
    // Per use, since the difference between the two clocks can change.
    const skew = Math.round((clock() - Date.now()) / 1000);
    const client = { client_id: audience, [oauth.clockSkew]: skew, [oauth.clockTolerance]: 30 };
    const checked = oauth.validateAuthResponse(server, client, query, query.get('state') ?? '');
    const authentication = clientAuthentication(server, clientSecret);
    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      client,
      await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        checked,
        callback.href,
        kept.verifier,
        transport,
      ),
      { expectedNonce: kept.nonce, requireIdToken: true },
    );
    // The library checks the claims. The signature is verified here in any case, without relying on TLS.
    const said = await verifySignedToken(tokens.id_token ?? '', { keys, issuer, audience, algorithms, clock });
    if (server.userinfo_endpoint === undefined || !lacksClaims(provider, said)) return said;
    const answer = await oauth.userInfoRequest(server, client, tokens.access_token, transport);
    const more = await oauth.processUserInfoResponse(server, client, said.sub ?? '', answer);
    return withUserinfo(provider, said, more);
  }
}

/** @throws {GatewayError} `login_unavailable` when the provider's sign-in page is missing or not safe to redirect to */
function signInPage({ authorization_endpoint: named = '' }: oauth.AuthorizationServer, query: Record<string, string>) {
  const url = URL.parse(named);
  if (url === null || !isSafeUrl(url)) throw unavailable(`its authorization_endpoint is ${named || 'missing'}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

function clientAuthentication(server: oauth.AuthorizationServer, secret: string | undefined): oauth.ClientAuth {
  if (secret === undefined) return oauth.None();
  // OpenID Connect Discovery section 3: the default is client_secret_basic.
  const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return supported.includes('client_secret_basic') ? oauth.ClientSecretBasic(secret) : oauth.ClientSecretPost(secret);
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
  // With max_age, the provider must return auth_time, which shows whether prompt=login was followed.
  const maxAge = wish.maxAge ?? (wish.fresh === true ? 0 : undefined);
  return {
    ...(prompts.size === 0 ? {} : { prompt: [...prompts].join(' ') }),
    ...(wish.loginHint === undefined || wish.another === true ? {} : { login_hint: wish.loginHint }),
    ...(wish.uiLocales === undefined ? {} : { ui_locales: wish.uiLocales }),
    ...(maxAge === undefined ? {} : { max_age: String(maxAge) }),
    ...(wish.acrValues === undefined ? {} : { acr_values: wish.acrValues }),
  };
}
