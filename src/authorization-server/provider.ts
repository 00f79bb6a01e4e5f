import type { KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import Provider, { type Account, type Configuration, type KoaContextWithOIDC } from 'oidc-provider';
import type { ClaimsConfig } from '../config/claims.ts';
import { GatewayError } from '../errors.ts';
import type { ResourceIndicators } from '../oauth/resource-indicator.ts';
import type { RoleScopes } from '../roles/role-scopes.ts';
import { adapterFactory } from './adapter.ts';
import { type Suspensions, storedClientBlocks } from './administration/suspensions.ts';
import { claimsByScope } from './claims.ts';
import type { ClientDocuments } from './client-documents/client-documents.ts';
import { documentFeature, documentFetch } from './client-documents/feature.ts';
import { COOKIE_NAMES, sessionCookieAt } from './cookies.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { Members } from './members.ts';
import { CLIENT_AUTHENTICATION, settings } from './provider-settings.ts';
import { recordId } from './record-id.ts';
import { replacedIn } from './refresh-family.ts';
import type { RefreshTokens } from './refresh-token.ts';
import type { ClientRecordsOptions } from './registration/client-records.ts';
import { described } from './rules/error-description.ts';
import type { RedirectPolicy } from './rules/redirect-uri.ts';
import { resourceRule } from './rules/resource.ts';
import { responseModeRule } from './rules/response-mode.ts';
import { scopeRule } from './rules/scope.ts';
import type { Standings } from './standing.ts';

/** What the operator configures. */
export interface ProviderSettings extends ClientRecordsOptions {
  readonly origin: string;
  /** Where the pages are: `origin`, or that of `pages.origin`. */
  readonly pagesOrigin: string;
  readonly indicators: ResourceIndicators;
  readonly resourceRequired: boolean;
  /** URL of the documentation for developers and agents. */
  readonly documentation: string;
  readonly policyUri?: string | undefined;
  readonly tosUri?: string | undefined;
  readonly defaultScope: readonly string[];
  /** The scopes that a token for an audience may have. */
  readonly scopesOf: (audience: string) => readonly string[];
  /** Secrets, by client_id, of the services that may introspect every token. */
  readonly resourceServers: ReadonlyMap<string, string>;
  /** The languages of the pages. */
  readonly languages: readonly string[];
  /** The acr values that the login backend may return. */
  readonly acrValues: readonly string[];
  /** The operator's custom claims. */
  readonly claims: ClaimsConfig;
  /** Seconds. */
  readonly ttl: {
    readonly access: number;
    readonly refresh: number;
    readonly refreshAbsolute: number;
    readonly code: number;
    readonly replayWindow: number;
  };
  readonly redirects: RedirectPolicy;
  readonly roleScopes: RoleScopes;
  /** Asks for the roles of a member again at the next need. */
  readonly forgetRoles: (sub: string) => void;
  /** Shows the error page for an authorization request that cannot be redirected. */
  readonly renderErrorPage: (ctx: KoaContextWithOIDC, error: string, description: string) => void;
  readonly onServerError: (error: Error) => void;
}

export interface ProviderOptions extends ProviderSettings {
  /** The scope catalogue, in the order it is published. */
  readonly scopes: readonly string[];
  readonly members: Members;
  readonly standings: Pick<Standings, 'mayContinue'>;
  readonly suspensions: Suspensions;
  /** Private JWKs, the signing key of each algorithm first. */
  readonly keys: readonly JWK[];
  /** The first signs cookies; all are accepted. */
  readonly cookieKeys: readonly KeyObject[];
  /** 32 bytes. Derives the nonces of RFC 9449 section 8; the same in every replica. */
  readonly dpopNonceKey: KeyObject;
  readonly refreshTokens: RefreshTokens;
  /** Undefined if client ID metadata documents are not supported. */
  readonly documents: ClientDocuments | undefined;
  /** Whether apps can register themselves. */
  readonly registration: boolean;
}

/** Describes errors also where they are returned to the app: the library offers no other hook for these parameters. */
class DescribingProvider extends Provider {
  override registerResponseMode(name: string, handler: Parameters<Provider['registerResponseMode']>[1]): void {
    super.registerResponseMode(name, (ctx, redirectUri, payload) => handler(ctx, redirectUri, described(payload)));
  }
}

const INTERACTION_TTL = 900;
const SESSION_TTL = 3600;

/**
 * Configures oidc-provider for the contract. Comments explain which of its defaults are changed and why. Throws if the
 * library rejects the configuration.
 */
export function createProvider(options: ProviderOptions): Provider {
  const { origin, pagesOrigin, ttl } = options;
  const sessionCookie = sessionCookieAt(pagesOrigin);
  const provider = new DescribingProvider(origin, {
    ...settings(),
    adapter: adapterFactory({ ...options, replayWindow: ttl.replayWindow }),
    jwks: { keys: options.keys.map((key) => ({ ...key })) as never },
    cookies: {
      keys: options.cookieKeys.map((key) => key.export().toString('base64url')),
      names: { ...COOKIE_NAMES, session: sessionCookie.name },
      long: { signed: true, httpOnly: true, sameSite: 'lax', path: sessionCookie.path },
      short: { signed: true, httpOnly: true, sameSite: 'lax' },
    },
    scopes: [...options.scopes],
    acrValues: [...options.acrValues],
    claims: claimsByScope(options.claims),
    clients: [...options.resourceServers].map(([client_id, client_secret]) => ({
      client_id,
      client_secret,
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: [],
      response_types: [],
      redirect_uris: [],
    })),
    ttl: lifetimes(ttl),
    findAccount: (ctx, sub, exchanged) => findAccount(options, ctx, sub, exchanged?.kind),
    extraParams: {
      scope: scopeRule(new Set(options.scopes), options.defaultScope) as never,
      ...(pagesOrigin === origin ? { response_mode: responseModeRule as never } : {}),
    },
    renderError(ctx, out, error) {
      // The mount throws it again, so that an unavailable store is a 503 here, too.
      if (error instanceof GatewayError) return;
      const person = ctx.oidc.route === 'authorization' || ctx.oidc.route === 'resume';
      if (person) options.renderErrorPage(ctx, out.error, described(out).error_description ?? '');
      else ctx.body = out;
    },
    discovery: {
      userinfo_endpoint: `${origin}${ENDPOINTS.userinfo}`,
      service_documentation: options.documentation,
      op_policy_uri: options.policyUri,
      op_tos_uri: options.tosUri,
      revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
      introspection_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
      protected_resources: [...options.indicators.audiences],
      ui_locales_supported: [...options.languages],
    },
    fetch: documentFetch(options.documents),
    features: features(options),
  });
  // The library builds URLs from the Host header, which `mount.ts` pins to the origin. Proxy mode makes it read the
  // scheme, too.
  provider.proxy = true;
  nameRefreshTokens(provider, options.refreshTokens);
  provider.on('server_error', (_ctx, error) => options.onServerError(error));
  return provider;
}

/** A token that replaces another is the next of its family. */
function nameRefreshTokens(provider: Provider, tokens: RefreshTokens): void {
  const { prototype } = provider.RefreshToken;
  Object.assign(prototype, {
    generateTokenId(this: { rotations?: number }) {
      const used = Provider.ctx && replacedIn(Provider.ctx.oidc.entities);
      return tokens.issue(this.rotations ?? 0, used && tokens.read(used.jti)?.family);
    },
  });
}

function lifetimes({ access, code, refresh, refreshAbsolute }: ProviderOptions['ttl']): Configuration['ttl'] {
  return {
    AccessToken: access,
    AuthorizationCode: code,
    IdToken: access,
    Interaction: INTERACTION_TTL,
    Session: SESSION_TTL,
    // Limits everything that belongs to the grant, so it must outlive the last refresh token.
    Grant: refreshAbsolute + access,
    RefreshToken(_ctx, token) {
      const age = (token as unknown as { totalLifetime(): number }).totalLifetime();
      return Math.max(1, Math.min(refresh, refreshAbsolute - age));
    },
  };
}

function features(options: ProviderOptions): Configuration['features'] {
  return {
    clientIdMetadataDocument: documentFeature(options.documents, storedClientBlocks(options.store, options.clock)),
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    // The library's endpoint refuses tokens with an audience. Ours runs behind the gate.
    userinfo: { enabled: false },
    pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: false },
    // Clients whose clock is wrong are offered a nonce, but it is never required: the unique `jti` already stops
    // replayed proofs.
    dPoP: { enabled: true, nonceSecret: options.dpopNonceKey.export(), requireNonce: () => false },
    // `registration/` applies the tokens, limits and rules before the library sees a request.
    registration: { enabled: options.registration, initialAccessToken: false, idFactory: recordId },
    registrationManagement: { enabled: options.registration, rotateRegistrationAccessToken: true },
    revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    introspection: {
      enabled: true,
      allowedPolicy: async (_ctx, client, token) =>
        token.clientId === client.clientId || options.resourceServers.has(client.clientId),
    },
    resourceIndicators: resourceRule({
      indicators: options.indicators,
      required: options.resourceRequired,
      scopesOf: options.scopesOf,
      roleScopes: options.roleScopes,
      accessTokenTtl: options.ttl.access,
    }),
  };
}

async function findAccount(
  { members, suspensions, standings, forgetRoles }: ProviderOptions,
  ctx: KoaContextWithOIDC,
  sub: string,
  exchanged: string | undefined,
): Promise<Account | undefined> {
  // Applies where a code or refresh token is exchanged. Whether a suspended member sees the consent page is decided in
  // the interaction.
  if (exchanged !== undefined && (await suspensions.since(sub)) !== undefined) return undefined;
  if (exchanged === 'RefreshToken') forgetRoles(sub);
  if (exchanged === 'RefreshToken' && !(await standings.mayContinue(sub, ctx.oidc.client?.clientId))) return undefined;
  if ((await members.find(sub)) === undefined) return undefined;
  // Claims are served by our own userinfo endpoint. The ID token only says who the member is.
  return { accountId: sub, claims: () => ({ sub }) };
}
