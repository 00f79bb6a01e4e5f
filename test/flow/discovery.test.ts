import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { READ_SCOPES, SCOPES } from '../support/catalogue.ts';
import { rawRequest } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';

const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';
const OPENID = '/.well-known/openid-configuration';
const KEYS = '/.well-known/jwks.json';
const DOCUMENTS = [RESOURCE, SERVER, OPENID, KEYS];

describe.each([{ profile: 'A' }, { profile: 'B' }])('discovery in Profile $profile', ({ profile }) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile });
  });
  afterAll(() => world.close());

  const document = async (path: string) => (await (await fetch(world.origin + path)).json()) as Record<string, unknown>;

  it('describes the protected resource', async () => {
    const { dpop_signing_alg_values_supported: _dpop, ...described } = await document(RESOURCE);
    expect(described).toEqual({
      resource: world.origin,
      authorization_servers: [world.origin],
      scopes_supported: READ_SCOPES,
      bearer_methods_supported: ['header'],
      resource_name: 'Harbour Lane School',
      resource_documentation: `${world.origin}/auth.md`,
    });
  });

  /**
   * Client documents, DPoP and PAR are optional. Their members are listed only when enabled, and their own tests check
   * them.
   */
  it.each([SERVER, OPENID])('describes the authorization server at %s with exactly these members', async (path) => {
    const {
      client_id_metadata_document_supported: _documents,
      dpop_signing_alg_values_supported: _dpop,
      pushed_authorization_request_endpoint: _par,
      require_pushed_authorization_requests: _required,
      ...described
    } = await document(path);
    expect(described).toEqual({
      issuer: world.origin,
      authorization_endpoint: `${world.origin}/oauth/authorize`,
      token_endpoint: `${world.origin}/api/oauth/token`,
      userinfo_endpoint: `${world.origin}/api/oauth/userinfo`,
      registration_endpoint: `${world.origin}/api/oauth/register`,
      revocation_endpoint: `${world.origin}/api/oauth/revoke`,
      introspection_endpoint: `${world.origin}/api/oauth/introspect`,
      jwks_uri: `${world.origin}/.well-known/jwks.json`,
      protected_resources: [world.origin],
      service_documentation: `${world.origin}/auth.md`,
      scopes_supported: SCOPES,
      ui_locales_supported: ['en', 'es', 'de', 'fr', 'ar'],
      response_types_supported: ['code'],
      response_modes_supported: expect.arrayContaining(['query']),
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
      introspection_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
      claims_parameter_supported: false,
      request_uri_parameter_supported: false,
      claim_types_supported: ['normal'],
      claims_supported: expect.arrayContaining(['sub', 'name', 'email', 'email_verified']),
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: expect.toSatisfy(
        (algorithms: string[]) => algorithms.toSorted().join(' ') === 'ES256 RS256',
      ),
    });
  });

  it('serves every URL that it names', async () => {
    const named = Object.entries(await document(SERVER)).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
    expect(named.length).toBeGreaterThanOrEqual(7);
    for (const [name, url] of named) {
      const method = /authorization|userinfo|jwks/.test(name) ? 'GET' : 'POST';
      const { status } = await fetch(String(url), { method, redirect: 'manual' });
      expect({ name, found: status !== 404 && status < 500 }).toEqual({ name, found: true });
    }
  });

  it('names nothing that is not served', async () => {
    const text = JSON.stringify([await document(RESOURCE), await document(SERVER)]);
    expect(text).not.toMatch(
      /agent_auth|identity_assertion|identity_endpoint|register_uri|service_auth|claim_endpoint|device|backchannel|end_session|check_session/i,
    );
    expect(text).not.toMatch(/offline_access|implicit|client_secret_basic/);
  });

  it('gives both authorization server documents the same members', async () => {
    expect(await document(OPENID)).toEqual(await document(SERVER));
  });

  it.each([
    '/agent/auth',
    '/.well-known/agent-auth',
    '/request',
    '/device',
    '/device/auth',
    '/session/end',
    '/backchannel',
    '/me',
    '/reg',
    '/token',
    '/jwks',
    '/oauth/interaction',
    '/.well-known/oauth-protected-resource/elsewhere',
    '/.well-known/oauth-authorization-server/elsewhere',
  ])('serves nothing at %s', async (path) => {
    const answers = [
      await fetch(world.origin + path, { redirect: 'manual' }),
      await fetch(world.origin + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ a: 'b' }) }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(404);
      expect(await answer.text()).not.toContain('"authorization_endpoint"');
    }
  });

  it('publishes public key material only', async () => {
    const { keys } = (await document(KEYS)) as { keys: Record<string, string>[] };
    const common = { use: 'sig', kid: expect.stringMatching(/^[\w-]{43}$/) };
    const coordinate = expect.stringMatching(/^[\w-]{43}$/);
    const elliptic = { ...common, kty: 'EC', crv: 'P-256', alg: 'ES256', x: coordinate, y: coordinate };
    // 2048 bits.
    const rsa = { ...common, kty: 'RSA', alg: 'RS256', e: 'AQAB', n: expect.stringMatching(/^[\w-]{342}$/) };
    // Of each algorithm, the signing key and the next one.
    expect(keys).toEqual([elliptic, elliptic, rsa, rsa]);
  });

  describe.each(DOCUMENTS)('%s', (path) => {
    it.each([
      { Host: 'evil.test' },
      { 'X-Forwarded-Host': 'evil.test' },
      { 'X-Forwarded-Proto': 'https' },
      { 'X-Forwarded-Port': '444' },
      { Forwarded: 'host=evil.test;proto=https' },
    ] as Record<string, string>[])('is unaffected by %o', async (headers) => {
      const plain = await rawRequest(world.origin, { path });
      const forged = await rawRequest(world.origin, { path, headers });
      expect(forged).toMatchObject({ status: 200, text: plain.text });
    });

    it('answers HEAD as GET without a body', async () => {
      const head = await rawRequest(world.origin, { method: 'HEAD', path });
      const get = await rawRequest(world.origin, { path });
      expect(head.status).toBe(200);
      expect(head.text).toBe('');
      for (const name of ['content-type', 'content-length']) expect(head.headers[name]).toBe(get.headers[name]);
    });

    it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('refuses %s with the methods that it allows', async (method) => {
      const answer = await fetch(world.origin + path, { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('GET, HEAD');
      expect(await answer.json()).toMatchObject({ error: 'invalid_request', error_description: expect.any(String) });
    });

    it('may be cached for five minutes, and keys for 45 seconds, because a key may have to be removed at once', async () => {
      const answer = await fetch(world.origin + path);
      const seconds = path.endsWith('jwks.json') ? 45 : 300;
      expect(answer.headers.get('cache-control')).toBe(`public, max-age=${seconds}`);
    });

    it('may be read by any origin, without credentials', async () => {
      const answer = await fetch(world.origin + path, { headers: { origin: 'https://page.example' } });
      expect(answer.headers.get('content-type')).toMatch(/^application\/(json|jwk-set\+json)/);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(answer.headers.getSetCookie()).toEqual([]);
    });
  });
});

describe('the scopes that the metadata of the origin lists', () => {
  const listed = async (config: (all: Config) => Config): Promise<unknown> => {
    const world = await startWorld({ profile: 'B', adjust: config });
    try {
      const resource = (await (await fetch(world.origin + RESOURCE)).json()) as Record<string, unknown>;
      const server = (await (await fetch(world.origin + SERVER)).json()) as Record<string, unknown>;
      expect(server.scopes_supported).toEqual(SCOPES);
      return resource.scopes_supported;
    } finally {
      await world.close();
    }
  };
  const route = (match: string, ...scopes: string[]) =>
    ({ match, scopes, upstream: 'school' }) as unknown as Config['routes'][number];
  const tool = (name: string, config: Config) => config.mcp?.tools.find((one) => one.name === name);

  it('are those of routes that can be read, and of tools, but none for changes', async () => {
    const scopes = await listed((config) => ({
      ...config,
      routes: [
        route('GET /api/v1/orders/**', 'orders:read'),
        route('HEAD /api/v1/pages/**', 'pages:read', 'pages:write'),
        route('* /api/v1/posts/**', 'posts:read'),
        route('POST /api/v1/comments', 'comments:read'),
        route('GET /api/v1/whoami', 'email'),
        route('POST|DELETE /api/v1/courses/**', 'courses:write'),
      ],
      mcp: config.mcp && {
        ...config.mcp,
        tools: [
          { ...tool('get_my_account', config), scopes: ['account:read', 'account:write', 'forms:read'] } as never,
        ],
      },
    }));
    expect(scopes).toEqual(['email', 'orders:read', 'posts:read', 'forms:read', 'pages:read', 'account:read']);
  });

  it('allow changes where nothing can be read without them, and are left out where none is needed', async () => {
    const only = (...routes: Config['routes']) => listed((config) => ({ ...config, mcp: undefined, routes }));
    expect(await only(route('* /api/v1/storage/**', 'storage:write'))).toEqual(['storage:write']);
    expect(await only(route('GET /api/v1/whoami'))).toBeUndefined();
  });
});
