import { type Configuration, interactionPolicy } from 'oidc-provider';
import { DPOP_ALGORITHMS } from '../oauth/dpop.ts';
import { ENDPOINTS } from './endpoints.ts';
import { DEFAULT_ID_TOKEN_ALGORITHM } from './rules/client-metadata.ts';
import { ALGORITHMS } from './signing-key.ts';

/** How clients authenticate, at every endpoint. */
export const CLIENT_AUTHENTICATION = ['none', 'client_secret_post'] as const;

/** The settings of oidc-provider that no option of ours changes. */
export function settings(): Configuration {
  return {
    routes: {
      authorization: ENDPOINTS.authorization,
      pushed_authorization_request: ENDPOINTS.pushedAuthorization,
      token: ENDPOINTS.token,
      revocation: ENDPOINTS.revocation,
      introspection: ENDPOINTS.introspection,
      registration: ENDPOINTS.registration,
      jwks: ENDPOINTS.jwks,
    },
    responseTypes: ['code'],
    // How and when the member signed in, for services that introspect (RFC 9470 section 6.2).
    extraTokenClaims: (ctx) => signInClaims(ctx.oidc.entities.AuthorizationCode ?? ctx.oidc.entities.RefreshToken),
    clientAuthMethods: [...CLIENT_AUTHENTICATION],
    clientDefaults: {
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: DEFAULT_ID_TOKEN_ALGORITHM,
    },
    enabledJWA: { idTokenSigningAlgValues: [...ALGORITHMS], dPoPSigningAlgValues: DPOP_ALGORITHMS },
    extraClientMetadata: { properties: ['software_id', 'software_version'] },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    enableHttpPostMethods: false,
    clockTolerance: 0,
    // By default, tokens expire with the browser session that approved them.
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: () => true,
    revokeGrantPolicy: () => true,
    // Each authorization has its own grant: ending one connection must not end another of the same app.
    async loadExistingGrant(ctx) {
      const grantId = ctx.oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId);
    },
    interactions: { url: (_ctx, interaction) => `${ENDPOINTS.interaction}/${interaction.uid}`, policy: policy() },
    clientBasedCORS: () => true,
    // Metadata as we normalised it. The size limit for documents is enforced where they are fetched.
    fetchResponseBodyLimits: { 'client_id metadata document': 64 * 1024 },
  };
}

/** `authTime` is null when the login backend does not say when the member signed in. */
function signInClaims(source: { acr?: string | undefined; authTime?: number | null | undefined } | undefined) {
  return {
    ...(source?.acr === undefined ? {} : { acr: source.acr }),
    ...(typeof source?.authTime === 'number' ? { auth_time: source.authTime } : {}),
  };
}

/** Each authorization asks the login backend again: our own session never replaces the member's. */
function policy() {
  const prompts = interactionPolicy.base();
  // Before the others, which it may precede: every consent page names the account and offers another one.
  prompts.add(new interactionPolicy.Prompt({ name: 'select_account', requestable: true }), 0);
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
