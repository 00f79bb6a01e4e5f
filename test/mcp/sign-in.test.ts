import { auth, Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { approve } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';
import { createAppMemory } from './support/app-memory.ts';
import { ask, askModern, call, type Reply, tokenOf, toolNames } from './support/mcp.ts';

const LEGACY_TOOLS = 9;

function challengeOf({ headers }: Reply): Record<string, string> {
  const value = headers.get('www-authenticate') ?? '';
  expect(value).toMatch(/^Bearer /);
  return Object.fromEntries([...value.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', text = '']) => [name, text]));
}

const metadataAt = async (url: string) => (await fetch(url)).json() as Promise<Record<string, unknown>>;

describe.each([
  { profile: 'A', scopes: ['account:read', 'account:write'] },
  { profile: 'B', scopes: ['account:read'] },
])('an MCP client without a valid token, Profile $profile', ({ profile, scopes }) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile });
  });
  afterAll(() => world.close());

  it('sees the public tools, and gets no challenge, whatever it calls', async () => {
    expect(await toolNames(world)).toEqual(['search_courses', 'get_course']);
    for (const name of ['get_my_account', 'save_playback_position', 'no_such_tool']) {
      const { status, headers, body } = await call(world, name);
      expect([name, status, headers.get('www-authenticate'), body.error.code]).toEqual([name, 200, null, -32_602]);
    }
  });

  it('gets 401 with the metadata document of this endpoint for a bad token', async () => {
    for (const path of ['/mcp', '/mcp/member']) {
      for (const authorization of ['Bearer bad', 'Bearer', 'Basic dTpw', 'Bearer a, Bearer b']) {
        const reply = await ask(world, 'tools/list', {}, { path, headers: { authorization } });
        expect([authorization, reply.status]).toEqual([authorization, 401]);
        expect(challengeOf(reply)).toMatchObject({
          error: 'invalid_token',
          resource_metadata: `${world.origin}/.well-known/oauth-protected-resource${path}`,
        });
      }
    }
  });

  it('finds a metadata document for each endpoint, with its URL, the issuer, and what all tools need', async () => {
    for (const path of ['/mcp', '/mcp/member']) {
      const document = await metadataAt(`${world.origin}/.well-known/oauth-protected-resource${path}`);
      expect(document).toMatchObject({
        resource: `${world.origin}${path}`,
        authorization_servers: [world.origin],
        bearer_methods_supported: ['header'],
      });
      expect(document.scopes_supported).toEqual(scopes);
    }
  });

  it('gets 401 at the members’ endpoint for every method, with what all tools need', async () => {
    for (const method of ['initialize', 'tools/list', 'no/such']) {
      const reply = await ask(world, method, {}, { path: '/mcp/member' });
      expect(reply.status).toBe(401);
      const { error, scope } = challengeOf(reply);
      expect([error, scope]).toEqual(['invalid_token', scopes.join(' ')]);
    }
  });
});

describe('in Profile B', () => {
  it('a member who signs in gets a tool for their own account', async () => {
    const world = await startWorld({ profile: 'B' });
    try {
      const token = await tokenOf(world);
      const sent = { token, path: '/mcp/member' };
      expect(await toolNames(world, sent)).toEqual(['search_courses', 'get_course', 'get_my_account']);
      const { body } = await call(world, 'get_my_account', {}, sent);
      expect(body.result.structuredContent).toEqual({ id: 'm-1001', email: 'student@example.com' });
    } finally {
      await world.close();
    }
  });
});

describe('an access token at the MCP endpoint', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  it('with too little scope gets 403 with the granted and the missing scopes, in 2026-07-28 with the tool’s', async () => {
    const narrow = await tokenOf(world, 'openid courses:read');
    const modern = (w: World, name: string, args: object, sent: object) =>
      askModern(w, 'tools/call', { name, arguments: args }, sent);
    for (const [ask, scope] of [
      [call, 'openid courses:read account:read account:write'],
      [modern, 'account:read account:write'],
    ] as const) {
      const reply = await ask(world, 'save_playback_position', {}, { token: narrow });
      expect(reply.status).toBe(403);
      expect(challengeOf(reply)).toMatchObject({
        error: 'insufficient_scope',
        scope,
        resource_metadata: `${world.origin}/.well-known/oauth-protected-resource/mcp`,
      });
    }
  });

  it('gets the tool’s scopes alone in that revision or a later one, and both under any other header', async () => {
    const token = await tokenOf(world, 'openid courses:read');
    const both = 'openid courses:read account:read account:write';
    for (const [revision, scope] of [
      ['2026-07-28', 'account:read account:write'],
      ['2026-07-29', 'account:read account:write'],
      ['2027-01-05', 'account:read account:write'],
      ['2026-07-27', both],
      ['2025-11-25', both],
      ['2024-11-05', both],
      ['', both],
      ['draft', both],
      ['DRAFT-2026-v1', both],
      ['2026-13-01', both],
      ['2026-08-00', both],
      ['2026-07-28 ', 'account:read account:write'],
      ['2026-07-28, 2026-07-28', both],
      ['2026-07-28T00:00', both],
      ['9'.repeat(4000), both],
    ] as const) {
      const headers = { 'mcp-protocol-version': revision };
      const reply = await call(world, 'save_playback_position', {}, { token, headers });
      expect([revision, reply.status, challengeOf(reply).scope]).toEqual([revision, 403, scope]);
    }
  });

  it.each(['', '/', '/mcp', '/mcp/', '/mcp/member', '/mcp/member/', '/account/graphql'])(
    'for the resource spelled as the origin plus "%s" is valid at both endpoints',
    async (suffix) => {
      const app = await registerApp(world.origin);
      const resource = `${world.origin}${suffix}`;
      const request = await authorizationRequest(app, { resource, scope: 'account:read' });
      const { access_token } = await redeem(app, request, await approve(request.url, app.redirectUri), resource);
      for (const path of ['/mcp', '/mcp/member'])
        expect(await toolNames(world, { path, token: access_token })).toHaveLength(LEGACY_TOOLS);
    },
  );

  it('is not issued for a neighbouring path', async () => {
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app, { resource: `${world.origin}/mcp/other` });
    const answer = await fetch(request.url, { redirect: 'manual' });
    expect(`${answer.headers.get('location')} ${await answer.text()}`).toMatch(/invalid_target/);
  });

  it('that was revoked gets 401 instead of the public tools', async () => {
    const app = await registerApp(world.origin);
    const request = await authorizationRequest(app, { scope: 'account:read' });
    const { access_token: token } = await redeem(app, request, await approve(request.url, app.redirectUri));
    expect(await toolNames(world, { token })).toHaveLength(LEGACY_TOOLS);
    const body = new URLSearchParams({ token, client_id: app.client.client_id });
    await fetch(`${world.origin}/api/oauth/revoke`, { method: 'POST', body });
    expect((await ask(world, 'tools/list', {}, { token })).status).toBe(401);
  });
});

describe('signIn: on-call', () => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', overrides: { mcp: { signIn: 'on-call' } } });
    token = await tokenOf(world);
  });
  afterAll(() => world.close());

  it('lists all tools without a token, with the scopes that they need', async () => {
    const { tools } = (await askModern(world, 'tools/list')).body.result;
    // With the tool for those who teach, so the list is another one for each member.
    expect(tools).toHaveLength(LEGACY_TOOLS + 1);
    expect(tools.map(({ _meta }: { _meta: object }) => _meta).slice(1, 3)).toMatchObject([
      { securitySchemes: [{ type: 'noauth' }] },
      { securitySchemes: [{ type: 'oauth2', scopes: ['account:read'] }] },
    ]);
    expect((await askModern(world, 'tools/list')).body.result).toMatchObject({ ttlMs: 0, cacheScope: 'private' });
  });

  it('challenges a call with 401 without a token, and with 403 with too little scope', async () => {
    const without = await call(world, 'save_playback_position');
    expect(without.status).toBe(401);
    expect(challengeOf(without)).toMatchObject({ error: 'invalid_token', scope: 'account:read account:write' });
    const narrow = await call(world, 'save_playback_position', {}, { token });
    expect(narrow.status).toBe(403);
    expect(challengeOf(narrow).scope).toBe('openid account:read account:write');
    expect((await call(world, 'search_courses')).status).toBe(200);
  });

  it.each<[string, object]>([
    ['User-Agent', { headers: { 'user-agent': 'openai-mcp/1.0.0' } }],
    ['name', { client: 'ChatGPT' }],
  ])('puts the challenge into the result for clients that expect it there, recognised by their %s', async (_, sent) => {
    const reply = await askModern(world, 'tools/call', { name: 'get_my_account', arguments: {} }, sent);
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([200, null]);
    expect(reply.body.result.isError).toBe(true);
    expect(reply.body.result.structuredContent).toBeUndefined();
    const [challenge] = reply.body.result._meta['mcp/www_authenticate'];
    expect(challenge).toBe(
      `Bearer error="invalid_token", error_description="this tool needs an access token of a member", resource_metadata="${world.origin}/.well-known/oauth-protected-resource/mcp", scope="account:read account:write"`,
    );
    const more = await askModern(
      world,
      'tools/call',
      { name: 'save_playback_position', arguments: {} },
      { ...sent, token },
    );
    expect(more.body.result._meta['mcp/www_authenticate'][0]).toMatch(
      /error="insufficient_scope".*scope="account:read account:write"/,
    );
  });

  it('is the only mode that recognises such clients: otherwise they get a status', async () => {
    const other = await startWorld({ profile: 'A' });
    const narrow = await tokenOf(other, 'openid');
    const reply = await call(
      other,
      'get_my_account',
      {},
      { token: narrow, headers: { 'user-agent': 'openai-mcp/1.0.0' } },
    );
    expect(reply.status).toBe(403);
    await other.close();
  });

  it.each(['auto', 'legacy'] as const)('lets the SDK’s client sign in when it calls a tool, %s', async (mode) => {
    const { client, finish } = await signingIn(`${world.origin}/mcp`, mode);
    await client.connect(finish.transport());
    expect((await client.listTools()).tools).toHaveLength(LEGACY_TOOLS + 1);
    await expect(client.callTool({ name: 'get_my_account', arguments: {} })).rejects.toThrow();
    await finish.signIn();
    const { structuredContent } = await client.callTool({ name: 'get_my_account', arguments: {} });
    expect(structuredContent).toEqual({ id: 'm-1001', email: 'student@example.com' });
    await client.close();
  });
});

describe('the MCP endpoints with the SDK’s client', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  it.each(['auto', 'legacy'] as const)(
    'ask it to sign in when it connects to the members’ endpoint, %s',
    async (mode) => {
      const first = await signingIn(`${world.origin}/mcp/member`, mode);
      await expect(first.client.connect(first.finish.transport())).rejects.toThrow();
      await first.finish.signIn();
      const again = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      await again.connect(first.finish.transport());
      expect((await again.listTools()).tools.map(({ name }) => name)).toContain('get_my_account');
      await again.close();
    },
  );

  it.each(['auto', 'legacy'] as const)('list more tools after a sign-in at the open endpoint, %s', async (mode) => {
    const { client, finish } = await signingIn(`${world.origin}/mcp`, mode);
    await client.connect(finish.transport());
    expect((await client.listTools()).tools).toHaveLength(2);
    await finish.signIn('account:read');
    expect((await client.listTools()).tools).toHaveLength(LEGACY_TOOLS);
    await client.close();
  });
});

/** The SDK's own client, with an app's storage and a member who approves. */
async function signingIn(address: string, mode: 'auto' | 'legacy') {
  const memory = createAppMemory();
  const provider = memory.provider as unknown as OAuthClientProvider;
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  let transport: StreamableHTTPClientTransport;
  const finish = {
    transport() {
      transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
      return transport;
    },
    async signIn(scope?: string) {
      if (memory.asked() === undefined)
        await auth(provider, { serverUrl: address, ...(scope === undefined ? {} : { scope }) });
      await transport.finishAuth(await memory.approved());
    },
  };
  return { client, finish, scopeAsked: () => memory.asked()?.searchParams.get('scope') };
}
