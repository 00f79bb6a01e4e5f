import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { exportJWK, generateKeyPair } from 'jose';
import Provider, { errors } from 'oidc-provider';
import { memoryAdapter } from './memory-adapter.ts';

/** A small authorization server with a protected resource at the contract's paths, independent of the real gate. */
export interface TestGate {
  readonly origin: string;
  /** The ids of registered clients that were not deleted. */
  readonly clients: () => Promise<string[]>;
  /** Whether this token is valid at the authorization server. */
  readonly alive: (token: string) => Promise<boolean>;
  /** Ends this access token, and nothing else. */
  readonly expire: (token: string) => Promise<void>;
  close(): Promise<void>;
}

export interface TestGateOptions {
  /** false means Profile B: no Account API, courses through REST. */
  readonly account?: boolean;
  /** The courses of the REST API. */
  readonly courses?: readonly object[];
  /** The member declines on the consent page. */
  readonly deny?: boolean;
  /** Changes the authorization server's metadata before it is served. */
  readonly metadata?: (document: Record<string, unknown>) => void;
  /** Changes the redirect back to the client. */
  readonly redirect?: (location: URL) => void;
  /** The resource does not check whether a token was revoked. */
  readonly deafToRevocation?: boolean;
  /** The resource answers 503 to a revoked token. */
  readonly failsAfterRevocation?: boolean;
  /** The status of every request with a token to a resource. */
  readonly reads?: 401 | 503;
  /** Closes the connection instead of deleting a registration. */
  readonly hangsUpOnDeletion?: boolean;
}

const SCOPES = ['openid', 'profile', 'email', 'account:read', 'courses:read', 'courses:write', 'orders:read'];
const EMAIL = 'student@example.com';

const NODES = [
  {
    slug: 'intro-to-pottery',
    expireDate: '2027-03-01T00:00:00Z',
    hasLifetimeAccess: false,
    lastWatchedLecture: { lectureId: 'l-7', positionSeconds: 3725 },
  },
  { slug: 'drawing-for-<beginners>', expireDate: null, hasLifetimeAccess: true, lastWatchedLecture: null },
];

export async function startTestGate(options: TestGateOptions = {}): Promise<TestGate> {
  const app = express();
  const server = createServer((request, response) =>
    options.hangsUpOnDeletion === true && request.method === 'DELETE'
      ? request.socket.destroy()
      : void app(request, response),
  );
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const provider = await makeProvider(origin);
  const known = new Set<string>();
  provider.on('registration_create.success', (_ctx, client) => known.add(client.clientId));
  provider.on('registration_delete.success', (_ctx, client) => known.delete(client.clientId));

  const bearer: express.RequestHandler = async (request, response, next) => {
    if (options.reads === 503) return void response.status(503).end();
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
    const found = await provider.AccessToken.find(token);
    if (options.failsAfterRevocation === true && found === undefined) return void response.status(503).end();
    const seen = options.deafToRevocation === true && token.length > 20;
    if (options.reads !== 401 && (seen || (found !== undefined && !found.isExpired && found.aud === origin))) {
      response.locals.token = found;
      return next();
    }
    const challenge = `Bearer error="invalid_token", error_description="The token is not alive.", resource_metadata="${origin}/.well-known/oauth-protected-resource"`;
    response.status(401).set('www-authenticate', challenge).json({ error: 'invalid_token' });
  };

  app.get('/.well-known/oauth-protected-resource', (_request, response) => {
    response.json({ resource: origin, authorization_servers: [origin], scopes_supported: SCOPES });
  });
  app.get('/api/oauth/userinfo', bearer, (_request, response) => {
    response.json({ sub: 'member-1', email: EMAIL });
  });
  if (options.account !== false) {
    app.post('/account/graphql', bearer, (_request, response) => {
      const viewer = { id: 'member-1', email: EMAIL, enrolledCourses: { totalCount: 2, nodes: NODES } };
      response.json({ data: { viewer } });
    });
  }
  app.get('/openapi.json', (_request, response) => {
    const security = [{ oauth2: ['courses:read'] }];
    const account = options.account === false ? {} : { '/account/graphql': { post: { operationId: 'queryAccount' } } };
    response.json({ paths: { ...account, '/api/v1/courses': { get: { security, tags: ['courses'] } } } });
  });
  app.get('/api/v1/courses', bearer, (_request, response) => {
    const data = options.courses ?? [{ slug: 'rest-course', expire_date: 1_800_000_000, has_lifetime_access: false }];
    response.json({ data, meta: { total: data.length } });
  });
  app.get('/interaction/:uid', async (request, response) => {
    await interact(provider, request, response, options.deny === true);
  });
  app.use(rewrite(options));
  app.use(provider.callback());

  return {
    origin,
    clients: async () => [...known],
    alive: async (token) => (await provider.AccessToken.find(token)) !== undefined,
    expire: async (token) => void (await (await provider.AccessToken.find(token))?.destroy()),
    close: () => close(server),
  };
}

async function makeProvider(origin: string): Promise<Provider> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return new Provider(origin, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig' }] },
    adapter: memoryAdapter(),
    cookies: { keys: ['a key of the tests'] },
    scopes: SCOPES,
    claims: { openid: ['sub'], email: ['email'] },
    responseTypes: ['code'],
    clientAuthMethods: ['none', 'client_secret_post'],
    clientDefaults: {
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      id_token_signed_response_alg: 'ES256',
    },
    pkce: { required: () => true },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      IdToken: 600,
      Interaction: 600,
      Session: 3600,
      Grant: 86_400,
      RefreshToken: 3600,
    },
    expiresWithSession: () => false,
    issueRefreshToken: async () => true,
    rotateRefreshToken: () => true,
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub }) }),
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    routes: {
      authorization: '/oauth/authorize',
      token: '/api/oauth/token',
      registration: '/api/oauth/register',
      revocation: '/api/oauth/revoke',
      introspection: '/api/oauth/introspect',
      jwks: '/.well-known/jwks.json',
    },
    discovery: { userinfo_endpoint: `${origin}/api/oauth/userinfo` },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      introspection: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      registration: { enabled: true },
      registrationManagement: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => {
          throw new errors.InvalidTarget('resource is required');
        },
        useGrantedResource: () => false,
        getResourceServerInfo: (_ctx, resource) => {
          if (resource !== origin) throw new errors.InvalidTarget(`resource must be ${origin}`);
          return { scope: SCOPES.join(' '), audience: origin, accessTokenFormat: 'opaque' };
        },
      },
    },
  });
}

/** The member signs in and approves or declines, without a page. */
async function interact(
  provider: Provider,
  request: express.Request,
  response: express.Response,
  deny: boolean,
): Promise<void> {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'member-1' } });
  }
  if (deny) {
    const denied = { error: 'access_denied', error_description: 'The member said no.' };
    return provider.interactionFinished(request, response, denied);
  }
  const grant = new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  grant.addResourceScope(String(params.resource), String(params.scope));
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

/** Changes the provider's responses as a test requests: its metadata and its redirects. */
function rewrite({ metadata, redirect }: TestGateOptions): express.RequestHandler {
  return (request, response, next) => {
    const end = response.end.bind(response);
    response.end = ((body?: unknown, ...rest: unknown[]) => {
      const location = response.getHeader('location');
      if (redirect !== undefined && typeof location === 'string' && location.includes('/callback?')) {
        const url = new URL(location);
        redirect(url);
        response.setHeader('location', url.href);
      }
      if (metadata !== undefined && request.path === '/.well-known/oauth-authorization-server') {
        const document = JSON.parse(String(body)) as Record<string, unknown>;
        metadata(document);
        response.removeHeader('content-length');
        return end(JSON.stringify(document));
      }
      return (end as (...all: unknown[]) => typeof response)(body, ...rest);
    }) as typeof response.end;
    next();
  };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
