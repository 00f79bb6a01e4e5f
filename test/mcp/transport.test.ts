import { request as rawRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';
import { ask, askModern, call, envelope, post, type Reply, tokenOf, toolNames, VERSION } from './support/mcp.ts';

let world: World;
let token: string;
beforeAll(async () => {
  world = await startWorld({ profile: 'A' });
  token = await tokenOf(world);
});
afterAll(() => world.close());

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });

/** Asserts a JSON-RPC error response and returns its status and code. */
function refusal({ status, headers, body }: Reply): unknown[] {
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(body).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) } });
  return [status, body.error.code];
}

/** Sends a request with any Host, which fetch does not allow. */
function withHost(host: string): Promise<number> {
  const { port } = new URL(world.origin);
  return new Promise((resolve, reject) => {
    const headers = { host, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const sent = rawRequest({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject).end(LIST);
  });
}

describe('the MCP endpoint, called from another host or page,', () => {
  it('accepts only the host of the origin', async () => {
    const { host, port } = new URL(world.origin);
    expect(await withHost(host)).toBe(200);
    expect(await withHost(host.toUpperCase())).toBe(200);
    for (const other of [
      'evil.test',
      `evil.test:${port}`,
      `127.0.0.1:${port}`,
      'localhost',
      `localhost.evil.test:${port}`,
    ]) {
      expect([other, await withHost(other)]).toEqual([other, 403]);
    }
  });

  it.each([
    'https://evil.test',
    'null',
    'http://localhost.evil.test',
    'http://192.168.0.1',
    'https://claude.ai.evil.test',
    'https://claude.ai:444',
    'https://claude.ai/',
    'javascript://claude.ai',
    '',
    'https://claude.ai, https://evil.test',
  ])('refuses the origin %j', async (origin) => {
    const reply = await post(world, LIST, { headers: { origin } });
    expect(refusal(reply)).toEqual([403, -32_000]);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('accepts pages of known clients, of loopback, and of its own origin', async () => {
    for (const origin of ['https://claude.ai', 'http://localhost:6274', 'http://127.0.0.1:5173', world.origin]) {
      const reply = await post(world, LIST, { headers: { origin } });
      expect([origin, reply.status]).toEqual([origin, 200]);
      expect(reply.headers.get('access-control-expose-headers')).toMatch(/WWW-Authenticate/);
      expect(reply.headers.get('access-control-expose-headers')).toMatch(
        /Retry-After.*Mcp-Session-Id.*MCP-Protocol-Version/,
      );
    }
  });

  it('accepts every origin with "*", except what is no origin', async () => {
    const open = await startWorld({ profile: 'A', overrides: { mcp: { file: 'tools.yaml', origins: '*' } } });
    try {
      const statusFor = async (origin: string) => (await post(open, LIST, { headers: { origin } })).status;
      expect(await statusFor('https://assistant.example')).toBe(200);
      for (const none of ['null', 'https://assistant.example/', '']) expect(await statusFor(none)).toBe(403);
    } finally {
      await open.close();
    }
  });

  it('allows the header fields of both eras', async () => {
    const response = await fetch(`${world.origin}/mcp`, {
      method: 'OPTIONS',
      headers: { origin: 'https://claude.ai', 'access-control-request-method': 'POST' },
    });
    expect(response.status).toBe(204);
    const allowed = (response.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
    expect(allowed).toEqual(
      expect.arrayContaining([
        ...['authorization', 'content-type', 'accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name'],
        ...['mcp-session-id', 'last-event-id'],
      ]),
    );
  });

  it('exposes its challenge', async () => {
    const reply = await post(world, LIST, { token: 'bad', headers: { origin: 'https://claude.ai' } });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('access-control-allow-origin')).toBe('*');
    expect(reply.headers.get('access-control-expose-headers')).toMatch(/WWW-Authenticate/);
  });
});

describe('the MCP endpoint', () => {
  it.each(['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD'])('refuses %s', async (method) => {
    for (const path of ['/mcp', '/mcp/member']) {
      const response = await fetch(`${world.origin}${path}`, { method, headers: { accept: 'text/event-stream' } });
      expect([path, response.status, response.headers.get('allow')]).toEqual([path, 405, 'POST']);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    }
  });

  it('has one URL: other spellings are not found, and not forwarded to the site', async () => {
    for (const path of ['/MCP', '/MCP/', '/mcp%2F', '/mcp/x', '/mcp/member/x', '/Mcp/member/']) {
      expect([path, (await post(world, LIST, { path })).headers.get('x-request-id') !== null]).toEqual([path, true]);
      expect((await post(world, LIST, { path })).status).not.toBe(200);
    }
  });

  it.each([
    undefined,
    '*/*',
    'application/json',
    'application/*',
    'text/event-stream',
    'application/json;q=0.5, text/html',
  ])('answers JSON to Accept: %s', async (accept) => {
    const { port } = new URL(world.origin);
    const answer = await new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
      const headers = {
        host: new URL(world.origin).host,
        'content-type': 'application/json',
        ...(accept === undefined ? {} : { accept }),
      };
      rawRequest({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
        );
      })
        .on('error', reject)
        .end(LIST);
    });
    expect([answer.status, answer.type]).toEqual([200, 'application/json']);
    expect(JSON.parse(answer.text).result.tools).toHaveLength(2);
  });

  it('returns 406 to a client that accepts neither JSON nor streams', async () => {
    expect(refusal(await post(world, LIST, { headers: { accept: 'text/html' } }))[0]).toBe(406);
  });

  it('accepts no content type except JSON, so that no form can call it', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp']) {
      expect(refusal(await post(world, LIST, { headers: { 'content-type': type } }))[0]).toBe(415);
    }
    expect((await post(world, LIST, { headers: { 'content-type': 'application/json; charset=utf-8' } })).status).toBe(
      200,
    );
  });

  it.each<[string, string | Uint8Array, number, number]>([
    ['no JSON', '{"jsonrpc": ', 400, -32_700],
    ['nothing', '', 400, -32_700],
    ['NaN', '{"jsonrpc":"2.0","id":NaN,"method":"tools/list"}', 400, -32_700],
    ['invalid UTF-8', new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]), 400, -32_700],
    ['a batch', `[${LIST},${LIST}]`, 400, -32_600],
    ['a number', '7', 400, -32_600],
    ['null', 'null', 400, -32_600],
    [
      'depth 10,000',
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`,
      400,
      -32_600,
    ],
    [
      '10 MB',
      `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"${'a'.repeat(10_000_000)}"}}`,
      413,
      -32_600,
    ],
    ['an object that is not a message', '{"hello":"world"}', 400, -32_600],
    ['id null', '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', 400, -32_600],
    ['an object as id', '{"jsonrpc":"2.0","id":{},"method":"tools/list"}', 400, -32_600],
  ])('answers a body of %s with a JSON-RPC error, and keeps serving', async (_, body, status, code) => {
    expect(refusal(await post(world, body))).toEqual([status, code]);
    expect(await toolNames(world)).toHaveLength(2);
  });

  it('authorizes the method that it runs when a name is repeated', async () => {
    const twice = `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"get_my_account","arguments":{}}}`;
    expect((await post(world, twice)).body.error.code).toBe(-32_602);
  });

  it('answers a response or a notification with 202 and no body', async () => {
    for (const message of [
      { jsonrpc: '2.0', id: 1, result: {} },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    ]) {
      const reply = await post(world, JSON.stringify(message));
      expect([message, reply.status, reply.text]).toEqual([message, 202, '']);
    }
  });
});

describe('revision 2026-07-28', () => {
  it('lists the supported versions', async () => {
    const { status, body } = await askModern(world, 'server/discover');
    expect(status).toBe(200);
    expect(body.result).toMatchObject({
      supportedVersions: [VERSION],
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
    });
  });

  it.each<[string, Record<string, string>, number]>([
    ['another version', { 'mcp-protocol-version': '2025-11-25' }, -32_020],
    ['another method', { 'mcp-method': 'tools/list' }, -32_020],
    ['another tool', { 'mcp-name': 'get_course' }, -32_020],
    ['no method', { 'mcp-method': '' }, -32_020],
    ['a tool in Base64 that is another', { 'mcp-name': '=?base64?Z2V0X2NvdXJzZQ==?=' }, -32_020],
  ])('refuses a header that names %s than the body', async (_, headers, code) => {
    const reply = await askModern(world, 'tools/call', { name: 'search_courses', arguments: {} }, { headers });
    expect(refusal(reply)).toEqual([400, code]);
  });

  it('authorizes the tool in the body, whatever the header names', async () => {
    const narrow = await tokenOf(world, 'openid');
    const params = { name: 'get_my_account', arguments: {} };
    const headers = { 'mcp-name': 'search_courses', 'mcp-method': 'tools/list' };
    expect((await askModern(world, 'tools/call', params, { token: narrow, headers })).status).toBe(403);
    expect((await askModern(world, 'tools/call', params, { headers })).status).toBe(400);
  });

  it('refuses an unsupported version', async () => {
    const meta = { ...envelope(), 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } };
    const headers = { 'mcp-protocol-version': '2027-01-01', 'mcp-method': 'tools/list' };
    expect(refusal(await post(world, JSON.stringify(message), { headers }))).toEqual([400, -32_022]);
    expect((await post(world, LIST, { headers: { 'mcp-protocol-version': '1999-01-01' } })).status).toBe(400);
  });

  it.each(['no/such', 'ping', 'logging/setLevel', 'subscriptions/listen', 'initialize'])(
    'has no method %s',
    async (method) => {
      expect(refusal(await askModern(world, method))).toEqual([404, -32_601]);
    },
  );

  it('marks lists as cacheable only where neither signing in nor a role would make them longer', async () => {
    const hint = async (at: World, sent: { token?: string }) => {
      const { result } = (await askModern(at, 'tools/list', {}, sent)).body;
      return [result.ttlMs, result.cacheScope];
    };
    expect(await hint(world, {})).toEqual([0, 'private']);
    // The demo has a tool for members who teach.
    expect(await hint(world, { token })).toEqual([0, 'private']);
    const account = {
      name: 'get_my_id',
      title: 'My id',
      description: 'Returns the id of the member.',
      scopes: ['account:read'],
    };
    const tools = [{ ...account, graphql: '{ viewer { id } }', result: { id: '/viewer/id' } }];
    const plain = await startWorld({ profile: 'A', overrides: { mcp: { tools, resources: [], prompts: [] } } });
    try {
      expect(await hint(plain, {})).toEqual([0, 'private']);
      expect(await hint(plain, { token: await tokenOf(plain) })).toEqual([300_000, 'private']);
    } finally {
      await plain.close();
    }
  });
});

describe('earlier revisions', () => {
  it.each(['2025-11-25', '2025-06-18', '2025-03-26'])('are served: %s', async (version) => {
    const clientInfo = { name: 'test', version: '1' };
    const params = { protocolVersion: version, capabilities: {}, clientInfo };
    const { body } = await ask(world, 'initialize', params, { headers: { 'mcp-protocol-version': version } });
    expect(body.result).toMatchObject({ protocolVersion: version, serverInfo: { name: 'coursegate' } });
    const listed = await ask(world, 'tools/list', {}, { headers: { 'mcp-protocol-version': version } });
    expect(listed.body.result.tools).toHaveLength(2);
    expect((await ask(world, 'ping')).body.result).toEqual({});
  });

  it('need no session: any session ID from a client is accepted, and none is known', async () => {
    const reply = await ask(world, 'tools/list', {}, { headers: { 'mcp-session-id': 'a-session-of-alice' } });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('mcp-session-id')).toBeNull();
    expect(reply.body.result.tools).toHaveLength(2);
  });

  it('get errors for unknown methods and tools', async () => {
    expect((await ask(world, 'no/such')).body.error.code).toBe(-32_601);
    expect((await call(world, 'no_such_tool')).body.error).toEqual({
      code: -32_602,
      message: 'No tool has this name.',
    });
  });
});

it('marks every response as not cacheable', async () => {
  for (const reply of [
    await ask(world, 'tools/list', {}, { token }),
    await post(world, '{'),
    await askModern(world, 'tools/list'),
  ]) {
    expect(reply.headers.get('cache-control')).toBe('no-store');
  }
});
