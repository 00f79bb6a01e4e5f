import Provider, { type Configuration, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider';
import type { ResourceIndicators } from '../oauth/resource-indicator.ts';
import type { Clock, Store } from '../storage/store.ts';
import { adapterFactory } from './adapter.ts';
import { COOKIE_NAMES } from './cookies.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { SigningKeys } from './keys.ts';
import type { Members } from './members.ts';
import { resourceRule } from './rules/resource.ts';
import { scopeRule } from './rules/scope.ts';

export interface ProviderOptions {
  readonly origin: string;
  readonly indicators: ResourceIndicators;
  readonly resourceRequired: boolean;
  /** The catalogue, in the order it is published. */
  readonly scopes: readonly string[];
  readonly defaultScope: readonly string[];
  readonly store: Store;
  readonly members: Members;
  readonly keys: SigningKeys;
  /** Signs the cookies. */
  readonly cookieKey: Buffer;
  /** Seconds. */
  readonly ttl: {
    readonly access: number;
    readonly refresh: number;
    readonly refreshAbsolute: number;
    readonly code: number;
  };
  readonly clock: Clock;
  readonly onRevoked: () => void;
  /** Shows a person what went wrong with an authorization request that cannot be redirected. */
  readonly renderErrorPage: (ctx: KoaContextWithOIDC, error: string, description: string) => void;
  readonly onServerError: (error: Error) => void;
}

const INTERACTION_TTL = 900;
const SESSION_TTL = 3600;

/**
 * oidc-provider, configured as the contract asks. What it does by default and must not is commented where it is
 * switched. Throws when the configuration is not one it takes.
 */
export function createProvider(options: ProviderOptions): Provider {
  const { origin, ttl } = options;

  const configuration: Configuration = {
    adapter: adapterFactory(options),
    jwks: { keys: options.keys.privateKeys.map((key) => ({ ...key })) as never },
    cookies: {
      keys: [options.cookieKey.toString('base64url')],
      names: COOKIE_NAMES,
      long: { signed: true, httpOnly: true, sameSite: 'lax', path: '/oauth' },
      short: { signed: true, httpOnly: true, sameSite: 'lax' },
    },
    routes: {
      authorization: ENDPOINTS.authorization,
      token: ENDPOINTS.token,
      revocation: ENDPOINTS.revocation,
      introspection: ENDPOINTS.introspection,
      registration: ENDPOINTS.registration,
      jwks: ENDPOINTS.jwks,
    },
    scopes: [...options.scopes],
    claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'client_secret_post'],
    clientDefaults: {
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
    },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    extraClientMetadata: { properties: ['software_id', 'software_version'] },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    enableHttpPostMethods: false,
    clockTolerance: 0,
    ttl: {
      AccessToken: ttl.access,
      AuthorizationCode: ttl.code,
      IdToken: ttl.access,
      Interaction: INTERACTION_TTL,
      Session: SESSION_TTL,
      // An absolute cap on everything that hangs on it, so it outlives the last refresh token.
      Grant: ttl.refreshAbsolute + ttl.access,
      RefreshToken: (_ctx, token) =>
        Math.max(
          1,
          Math.min(
            ttl.refresh,
            ttl.refreshAbsolute - (token as unknown as { totalLifetime(): number }).totalLifetime(),
          ),
        ),
    },
    // By default tokens die with the browser session that approved them.
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => true,
    revokeGrantPolicy: () => true,
    // One grant for one authorization: cutting off one connection must not cut off another of the same app.
    async loadExistingGrant(ctx) {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId);
    },
    async findAccount(_ctx, sub) {
      const member = await options.members.find(sub);
      if (member === undefined) return undefined;
      // Claims are served by our own userinfo; the ID token says who, and nothing more.
      return { accountId: sub, claims: () => ({ sub }) };
    },
    extraParams: { scope: scopeRule(new Set(options.scopes), options.defaultScope) as never },
    interactions: { url: (_ctx, interaction) => `${ENDPOINTS.interaction}/${interaction.uid}`, policy: policy() },
    clientBasedCORS: () => true,
    renderError(ctx, out) {
      const person = ctx.oidc.route === 'authorization' || ctx.oidc.route === 'resume';
      if (person) options.renderErrorPage(ctx, out.error, out.error_description ?? '');
      else ctx.body = out;
    },
    discovery: {
      userinfo_endpoint: `${origin}${ENDPOINTS.userinfo}`,
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
      introspection_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
      protected_resources: [options.indicators.audience],
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      // It refuses tokens with an audience; ours stands behind the gate.
      userinfo: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      registration: { enabled: true, initialAccessToken: false },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      introspection: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      resourceIndicators: resourceRule({
        indicators: options.indicators,
        required: options.resourceRequired,
        scopes: options.scopes,
        accessTokenTtl: ttl.access,
      }),
    },
  };

  const provider = new Provider(origin, configuration);
  // Its URLs come from the Host header, which `mount.ts` pins to the origin; proxy mode makes it read the scheme too.
  provider.proxy = true;
  provider.on('server_error', (_ctx, error) => options.onServerError(error));
  return provider;
}

/** Each authorization asks the login backend anew: our own session never stands in for the member's. */
function policy() {
  const prompts = interactionPolicy.base();
  prompts
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check(
        'backend_session',
        'the member must be identified for each authorization',
        'login_required',
        (ctx) =>
          ctx.oidc.result?.login === undefined
            ? interactionPolicy.Check.REQUEST_PROMPT
            : interactionPolicy.Check.NO_NEED_TO_PROMPT,
      ),
    );
  return prompts;
}
