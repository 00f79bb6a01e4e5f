import * as oauth from 'oauth4webapi';

/** oauth4webapi refuses plain HTTP by default; the gate under test is on loopback. */
export const INSECURE = { [oauth.allowInsecureRequests]: true } as const;

export interface App {
  readonly server: oauth.AuthorizationServer;
  readonly resource: string;
  readonly client: oauth.Client;
  readonly auth: oauth.ClientAuth;
  readonly redirectUri: string;
}

export interface AppOptions {
  readonly redirectUri?: string;
  readonly confidential?: boolean;
  readonly metadata?: Record<string, string | string[]>;
}

/** A third-party app on oauth4webapi. Everything it knows about the gate comes from the gate's metadata. */
export async function registerApp(origin: string, options: AppOptions = {}): Promise<App> {
  const url = new URL(origin);
  const described = await oauth.processResourceDiscoveryResponse(
    url,
    await oauth.resourceDiscoveryRequest(url, INSECURE),
  );
  const issuer = new URL(described.authorization_servers?.[0] ?? '');
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...INSECURE }),
  );
  const redirectUri = options.redirectUri ?? 'https://app.example/callback';
  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(
      server,
      {
        client_name: 'Test App',
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: options.confidential ? 'client_secret_post' : 'none',
        ...options.metadata,
      },
      INSECURE,
    ),
  );
  const auth = options.confidential ? oauth.ClientSecretPost(String(client.client_secret)) : oauth.None();
  return { server, resource: described.resource, client, auth, redirectUri };
}

export interface AuthorizationRequest {
  readonly url: string;
  readonly state: string;
  readonly verifier: string;
}

/** An authorization request with PKCE and state. A parameter set to undefined is left out. */
export async function authorizationRequest(
  app: App,
  parameters: Record<string, string | undefined> = {},
): Promise<AuthorizationRequest> {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(app.server.authorization_endpoint ?? '');
  const all = {
    response_type: 'code',
    client_id: app.client.client_id,
    redirect_uri: app.redirectUri,
    scope: 'openid profile email account:read courses:read',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    resource: app.resource,
    ...parameters,
  };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) url.searchParams.set(name, value);
  return { url: url.href, state, verifier };
}

/** Redeems what came back at the redirect URI; state and iss are checked by the library (RFC 9207). */
export async function redeem(
  app: App,
  request: AuthorizationRequest,
  returned: URL,
  resource: string | undefined = app.resource,
): Promise<oauth.TokenEndpointResponse> {
  const parameters = oauth.validateAuthResponse(app.server, app.client, returned, request.state);
  const response = await oauth.authorizationCodeGrantRequest(
    app.server,
    app.client,
    app.auth,
    parameters,
    app.redirectUri,
    request.verifier,
    { ...INSECURE, additionalParameters: resource === undefined ? {} : { resource } },
  );
  return oauth.processAuthorizationCodeResponse(app.server, app.client, response);
}

export async function refresh(
  app: App,
  refreshToken: string,
  extra: Record<string, string> = {},
): Promise<oauth.TokenEndpointResponse> {
  const response = await oauth.refreshTokenGrantRequest(app.server, app.client, app.auth, refreshToken, {
    ...INSECURE,
    additionalParameters: { resource: app.resource, ...extra },
  });
  return oauth.processRefreshTokenResponse(app.server, app.client, response);
}

export async function introspect(app: App, token: string): Promise<oauth.IntrospectionResponse> {
  const response = await oauth.introspectionRequest(app.server, app.client, app.auth, token, INSECURE);
  return oauth.processIntrospectionResponse(app.server, app.client, response);
}

export async function revoke(app: App, token: string): Promise<void> {
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(app.server, app.client, app.auth, token, INSECURE),
  );
}

/** Posts a form directly, for requests that the library would not send. */
export function postForm(
  url: string | undefined,
  fields: Record<string, string | undefined>,
  headers: Record<string, string> = {},
): Promise<Response> {
  const given = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined);
  return fetch(url ?? '', { method: 'POST', body: new URLSearchParams(given), headers });
}

export function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
