import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const KEY = { environment: { KEY: 'a-key-for-the-backend' } };
const BRIDGE = SMALL.replace(
  /login:[\s\S]*?upstreams:/,
  'login: { kind: bridge, url: /connect, secret: { env: BRIDGE } }\nupstreams:',
);

const withCredential = (credential: string, rest = '', base = SMALL) =>
  base.replace('{ url: http://127.0.0.1:4000 }', `{ url: http://127.0.0.1:4000, credential: ${credential} }`) + rest;
const SERVICE_KEY = '{ kind: key, header: X-API-Key, secret: { env: KEY } }';

describe('upstreams.*.credential', () => {
  it('has defaults for each kind', async () => {
    const { config } = await load(withCredential('{ kind: session, cookies: [school_session] }'));
    expect(config.upstreams.school?.credential).toEqual({
      kind: 'session',
      cookies: ['school_session'],
      check: 60,
      over: { statuses: [401] },
    });
    const token = await load(withCredential('{ kind: token, mint: { path: "/tokens/{member.id}" } }'));
    expect(token.config.upstreams.school?.credential).toEqual({
      kind: 'token',
      mint: { method: 'POST', path: '/tokens/{member.id}' },
      token: '/token',
      lifetime: 300,
      header: 'Authorization',
    });
  });

  it('leaves the identity list unchanged', async () => {
    const text = withCredential(SERVICE_KEY).replace('credential:', 'identity: [headers], credential:');
    const { config, secrets } = await load(text, KEY);
    expect(config.upstreams.school?.identity).toEqual(['headers']);
    expect(JSON.stringify(config)).not.toContain(KEY.environment.KEY);
    expect([...secrets]).toEqual([['upstreams.school.credential.secret', KEY.environment.KEY]]);
  });

  it.each([
    ['{ kind: session, cookies: [school_session, "*"] }', 'must be more specific than *'],
    ['{ kind: session, cookies: [school_session, coursegate_session] }', 'is a cookie of coursegate itself'],
    ['{ kind: session, cookies: [tracking] }', 'includes none of login.cookies, which identify the member'],
    ['{ kind: session, cookies: [school_session], over: { redirects: "(" } }', 'is not a valid RE2 pattern'],
    ['{ kind: token, mint: { path: /tokens } }', 'must contain {member.id}'],
    ['{ kind: token, mint: { path: "/tokens/{id}" } }', 'must not contain { } or #'],
    ['{ kind: token, mint: { path: "/t/{member.id}", upstream: nobody } }', 'there is no upstream "nobody"'],
    [
      '{ kind: token, mint: { path: "/t/{member.id}" }, header: X-Member-Id }',
      'is a header field that coursegate sets itself',
    ],
    ['{ kind: token, mint: { path: "/t/{member.id}" }, token: token }', 'must be a JSON pointer'],
    ['{ kind: key, secret: { env: KEY } }', 'must have either `header` or `query`'],
    ['{ kind: key, header: X-K, query: k, secret: { env: KEY } }', 'must have either `header` or `query`'],
    ['{ kind: key, header: X-K, secret: { env: NONE } }', 'environment variable NONE is not set'],
    ['{ kind: key, header: X-K, secret: { env: SHORT } }', 'must have at least 8 visible ASCII characters'],
    ['{ kind: key, header: X-K, secret: abc }', 'secrets are never written in this file'],
  ])('%s: %s', async (credential, message) => {
    const found = await mistakes(withCredential(credential), { environment: { ...KEY.environment, SHORT: 'abc' } });
    expect(found).toEqual([expect.stringContaining(message)]);
    expect(found[0]).toMatch(/^gate\.yaml:\d+:\d+ {2}upstreams\.school\.credential/);
  });

  it('refuses session credentials for a login without a browser session', async () => {
    const text = withCredential('{ kind: session, cookies: [school_session] }', '', BRIDGE);
    expect(await mistakes(text, { environment: { BRIDGE: 'b'.repeat(32) } })).toEqual([
      expect.stringContaining(
        'upstreams.school.credential.kind: needs `login: { kind: session }`: with login.kind bridge',
      ),
    ]);
  });

  it.each([
    ['GET /api/orders', '', false],
    ['GET /api/orders', ', anonymous: refuse', false],
    ['GET /api/orders/**', ', scopes: []', false],
    ['GET /api/orders', ', anonymous: serve', true],
    ['GET /api/v1/{member.id}/orders', ', anonymous: refuse', true],
    ['GET /api/orders', ', anonymous: refuse, rewrite: "/m/{member.id}/orders"', true],
    ['GET /api/orders', ', anonymous: refuse, query: { user: "{member.id}" }', true],
    ['POST /api/orders', ', anonymous: refuse, body: { user: "{member.id}" }', true],
  ])('with one key for all members, %s%s loads: %s', async (match, rest, loads) => {
    const routes = `routes:\n  - { match: "${match}", upstream: school${rest} }\n`;
    const found = loads
      ? [(await load(withCredential(SERVICE_KEY, routes), KEY)) && 'loads']
      : await mistakes(withCredential(SERVICE_KEY, routes), KEY);
    expect(found).toEqual([
      loads
        ? 'loads'
        : expect.stringMatching(
            /^gate\.yaml:\d+:\d+ {2}routes\[0\]\.match: would give access to every member's records/,
          ),
    ]);
  });

  it('does not accept a profile’s default as permission to make a route with a shared key public', async () => {
    const text = withCredential(SERVICE_KEY, 'routes:\n  - { match: "GET /api/x", upstream: school }\n');
    expect(await mistakes(text, KEY)).toHaveLength(1);
  });

  it.each([
    ['', 1],
    [', arguments: { user: "{member.id}" }', 0],
  ])('with one key for all members, a tool of an MCP server%s has %i problems', async (rest, count) => {
    const tools = `mcp:
  tools:
    - name: orders
      title: Orders
      description: Orders.
      scopes: [orders:read]
      server: { upstream: school, path: /mcp, tool: a, hash: sha256-EaJF7bAC74b3Ki6ne950nGZMWYHNtoG_0f6BPvDE17I${rest} }
`;
    const text = withCredential(SERVICE_KEY, tools);
    const found = count === 0 ? [void (await load(text, KEY))].filter(Boolean) : await mistakes(text, KEY);
    expect(found).toEqual(
      count === 0
        ? []
        : [expect.stringContaining("mcp.tools[0].server.upstream: would give access to every member's records")],
    );
  });

  it.each([
    ['/api/orders/{id}', '', 1],
    ['/api/{member.id}/orders', '', 0],
    ['/api/orders', ', query: { user: "{member.id}" }', 0],
  ])('with one key for all members, a tool that calls %s%s has %i problems', async (path, rest, count) => {
    const tools = `mcp:
  tools:
    - name: orders
      title: Orders
      description: Orders.
      scopes: [orders:read]
      input: { properties: { ${path.includes('{id}') ? 'id: { type: string }' : ''} } }
      get: { upstream: school, path: "${path}"${rest} }
`;
    const text = withCredential(SERVICE_KEY, tools);
    const found = count === 0 ? [void (await load(text, KEY))].filter(Boolean) : await mistakes(text, KEY);
    expect(found).toEqual(
      count === 0
        ? []
        : [expect.stringContaining("mcp.tools[0].get.path: would give access to every member's records")],
    );
  });
});
