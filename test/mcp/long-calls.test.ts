import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client as Client125 } from 'mcp-sdk-1-25/client/index.js';
import { StreamableHTTPClientTransport as Transport125 } from 'mcp-sdk-1-25/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { rawRequest } from '../support/raw.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';
import { ask, askModern, call, post, type Reply, tokenOf } from './support/mcp.ts';

const CONTRACT = `type Query { viewer: Viewer! }
type Viewer { id: ID! lessons: Int also: Int }
type Mutation { countAgain: Int }`;
const MAPPING = `extend schema @source(name: "slow")
extend type Viewer {
  lessons: Int @connect(source: "slow", http: { GET: "/count" }, selection: "$.lessons")
  also: Int @connect(source: "slow", http: { GET: "/peek" }, selection: "$.lessons")
}
extend type Mutation { countAgain: Int @connect(source: "slow", http: { PUT: "/count" }, selection: "$.lessons") }`;

const about = { title: 'T', description: 'D' };
const TOOLS = [
  { ...about, name: 'count', get: { upstream: 'slow', path: '/count' } },
  { ...about, name: 'own_count', scopes: ['courses:write'], get: { upstream: 'slow', path: '/count' } },
  { ...about, name: 'import_students', scopes: ['courses:write'], route: 'POST /imports' },
  { ...about, name: 'query_count', scopes: ['account:read'], graphql: '{ viewer { lessons } }' },
  {
    ...{ ...about, name: 'change_count', scopes: ['account:read', 'courses:write'] },
    graphql: 'mutation { countAgain }',
  },
  { ...about, name: 'peek', get: { upstream: 'slow', path: '/peek' } },
];
const RESOURCES = [{ ...about, uri: 'school://count', name: 'count', tool: 'count' }];
const ROUTES = [{ match: 'POST /imports', upstream: 'slow', scopes: ['courses:write'] }];

/** The part of a client that both generations of the SDK share. */
interface AnyClient {
  callTool(
    name: string,
    options: { onprogress?: (progress: object) => void; signal?: AbortSignal; args?: Record<string, unknown> },
  ): Promise<{ readonly structuredContent?: unknown; readonly isError?: boolean }>;
  readResource(uri: string, options: object): Promise<{ readonly contents: readonly object[] }>;
  close(): Promise<void>;
}

const v2 =
  (mode: 'auto' | 'legacy') =>
  async (url: URL, headers: Record<string, string>): Promise<AnyClient> => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    return {
      callTool: (name, { args = {}, ...options }) => client.callTool({ name, arguments: args }, options) as never,
      readResource: (uri, options) => client.readResource({ uri }, options),
      close: () => client.close(),
    };
  };

const v1 = async (url: URL, headers: Record<string, string>): Promise<AnyClient> => {
  const client = new ClientV1({ name: 'test', version: '1' });
  await client.connect(new TransportV1(url, { requestInit: { headers } }) as never);
  return anyV1(client);
};

const v125 = async (url: URL, headers: Record<string, string>): Promise<AnyClient> => {
  const client = new Client125({ name: 'test', version: '1' });
  await client.connect(new Transport125(url, { requestInit: { headers } }) as never);
  return anyV1(client as never);
};

function anyV1(client: ClientV1): AnyClient {
  return {
    callTool: (name, { args = {}, ...options }) =>
      client.callTool({ name, arguments: args }, undefined, options) as never,
    readResource: (uri, options) => client.readResource({ uri }, options),
    close: () => client.close(),
  };
}

const CLIENTS = [
  { kind: 'SDK v2, revision 2026-07-28', connect: v2('auto') },
  { kind: 'SDK v2, earlier revisions', connect: v2('legacy') },
  { kind: 'SDK v1', connect: v1 },
  { kind: 'SDK 1.25.3', connect: v125 },
];

let world: World;
let folder: string;
let school: RecordingUpstream;
let token: string;
let other: string;
/** The responses of the upstream that the test has to end. */
const open: ServerResponse[] = [];
const arrived = async (): Promise<ServerResponse> => {
  await vi.waitUntil(() => open.length > 0);
  return open.shift() as ServerResponse;
};

const account = () => ({
  schema: join(folder, 'contract.graphql'),
  mappings: join(folder, 'mapping.graphql'),
  upstreamSchemas: undefined,
});

beforeAll(async () => {
  school = await startRecordingUpstream();
  folder = mkdtempSync(join(tmpdir(), 'coursegate-long-calls-'));
  writeFileSync(join(folder, 'contract.graphql'), CONTRACT);
  writeFileSync(join(folder, 'mapping.graphql'), MAPPING);
  world = await startWorld({ profile: 'A' });
  token = await tokenOf(world, 'account:read courses:write');
  other = await tokenOf(world, 'account:read');
  await world.restart({
    upstreams: { slow: { url: school.url, maxRequests: 1 } },
    routes: ROUTES,
    mcp: { tools: TOOLS, resources: RESOURCES, prompts: [] },
    account: account(),
  });
  school.script(async (request, response, { whole }) => {
    await whole;
    if (request.url === '/peek') response.writeHead(200, { 'content-type': 'application/json' }).end('{"free":true}');
    else open.push(response);
  });
});
afterEach(() => {
  for (const response of open.splice(0)) response.destroy();
});
afterAll(async () => {
  await world.close();
  await school.close();
  rmSync(folder, { recursive: true });
});

const lines = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'application/x-ndjson' });
const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const peek = async () => (await call(world, 'peek')).body.result;

/** The messages of an answer that is an event stream. */
const messagesOf = ({ text }: Reply) => [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));

describe.each(CLIENTS)('$kind', ({ connect }) => {
  let client: AnyClient;
  beforeAll(async () => {
    client = await connect(new URL(`${world.origin}/mcp`), { authorization: `Bearer ${token}` });
  });
  afterAll(() => client.close());

  it('hears of progress while the call runs, in order, and gets the result last', async () => {
    const heard: object[] = [];
    const result = client.callTool('count', { onprogress: (progress) => heard.push(progress) });
    const response = await arrived();
    expect(school.last().values('accept')).toEqual(['application/x-ndjson, application/json']);
    lines(response).write(line({ progress: 1, total: 3, message: 'Reading' }));
    await vi.waitUntil(() => heard.length === 1);
    response.write('{"progress": 2, "to');
    response.write('tal": 3}\r\n');
    await vi.waitUntil(() => heard.length === 2);
    response.end(`${line({ progress: 3, total: 3 })}${line({ lessons: 12, progress: 80 })}`);
    expect((await result).structuredContent).toEqual({ lessons: 12, progress: 80 });
    expect(heard).toEqual([
      { progress: 1, total: 3, message: 'Reading' },
      { progress: 2, total: 3 },
      { progress: 3, total: 3 },
    ]);
  });

  it.each(['query_count', 'change_count'])('hears of the progress of %s, which uses the Account API', async (name) => {
    const heard: object[] = [];
    const result = client.callTool(name, { onprogress: (progress) => heard.push(progress) });
    const response = await arrived();
    expect(school.last().values('accept')).toEqual(['application/x-ndjson, application/json']);
    lines(response).write(line({ progress: 1, total: 2 }));
    await vi.waitUntil(() => heard.length === 1);
    response.end(`${line({ progress: 2, total: 2 })}${line({ lessons: 12 })}`);
    const lessons = name === 'query_count' ? { viewer: { lessons: 12 } } : { countAgain: 12 };
    expect((await result).structuredContent).toEqual(lessons);
    expect(heard).toEqual([
      { progress: 1, total: 2 },
      { progress: 2, total: 2 },
    ]);
  });

  it('hears of the progress of a resource that it reads, and ends the request when it cancels', async () => {
    const heard: object[] = [];
    const read = client.readResource('school://count', { onprogress: (progress: object) => heard.push(progress) });
    const response = await arrived();
    lines(response).write(line({ progress: 1 }));
    await vi.waitUntil(() => heard.length === 1);
    response.end(line({ lessons: 12 }));
    expect((await read).contents).toMatchObject([{ uri: 'school://count', text: '{"lessons":12}' }]);
    const stop = new AbortController();
    const cancelled = client.readResource('school://count', { signal: stop.signal });
    cancelled.catch(() => {});
    await arrived();
    const { closed } = school.last();
    stop.abort();
    await closed;
    await expect(cancelled).rejects.toThrow();
    expect((await peek()).structuredContent).toEqual({ free: true });
  });

  it('gets the result alone if it does not ask for progress', async () => {
    const result = client.callTool('count', {});
    const response = await arrived();
    expect(school.last().values('accept')).toEqual(['application/json']);
    lines(response).end(`${line({ progress: 1 })}${line({ lessons: 12 })}`);
    expect((await result).structuredContent).toEqual({ lessons: 12 });
  });

  it.each(['count', 'own_count', 'import_students', 'query_count', 'change_count'])(
    'ends the request to the upstream when it cancels %s, and gives its place back',
    async (name) => {
      const stop = new AbortController();
      const result = client.callTool(name, { signal: stop.signal });
      result.catch(() => {});
      await arrived();
      const { closed } = school.last();
      expect((await peek()).isError).toBe(true);
      stop.abort();
      await closed;
      await expect(result).rejects.toThrow();
      expect((await peek()).structuredContent).toEqual({ free: true });
    },
  );

  it('ends it while progress is coming, too', async () => {
    const stop = new AbortController();
    const heard: object[] = [];
    const result = client.callTool('count', { signal: stop.signal, onprogress: (progress) => heard.push(progress) });
    result.catch(() => {});
    const response = await arrived();
    lines(response).write(line({ progress: 1 }));
    await vi.waitUntil(() => heard.length === 1);
    const { closed } = school.last();
    stop.abort();
    await closed;
    expect((await peek()).structuredContent).toEqual({ free: true });
  });
});

describe('progress', () => {
  const withToken = (name = 'count', progressToken: unknown = 7) => ({ name, arguments: {}, _meta: { progressToken } });
  const answered = async (body: string, sent = {}) => {
    const reply = ask(world, 'tools/call', withToken(), sent);
    lines(await arrived()).end(body);
    return reply;
  };

  it('has the token of the call, and its text is cleaned and cut', async () => {
    const message = `<script>steal()</script>![x](http://evil.example/p.png)\u200b${'a'.repeat(1000)}`;
    const reply = await answered(`${line({ progress: 1, message })}${line({ done: true })}`);
    expect(reply.headers.get('content-type')).toBe('text/event-stream');
    expect(reply.headers.get('cache-control')).toBe('no-store, no-transform');
    const [first, last, ...more] = messagesOf(reply);
    expect([first.method, first.params.progressToken, first.params.progress]).toEqual(['notifications/progress', 7, 1]);
    expect(first.params.message).not.toMatch(/script|!\[|\u200b/);
    expect(first.params.message.length).toBeLessThan(330);
    expect([last.result.structuredContent, more]).toEqual([{ done: true }, []]);
  });

  it('is bounded in its rate, and always increases', async () => {
    const many = Array.from({ length: 5000 }, (_, at) => line({ progress: at + 1 })).join('');
    const fast = messagesOf(await answered(`${many}${line({ done: true })}`));
    expect(fast.length).toBeGreaterThan(4);
    expect(fast.length).toBeLessThan(20);
    const values = [1, 1, 3, 2, 4].map((progress) => line({ progress })).join('');
    const seen = messagesOf(await answered(`${values}${line({ done: true })}`));
    expect(seen.slice(0, -1).map(({ params }) => params.progress)).toEqual([1, 3, 4]);
  });

  it('is only what has no other members, and finite numbers', async () => {
    const others = ['{"progress":1,"id":2}', '{"progress":"1"}', '{"progress":1e999}', '[1]', 'null', 'x', ''];
    const long = line({ progress: 1, message: 'a'.repeat(5000) });
    const reply = await answered(`${others.join('\n')}\n${long}${line({ done: true })}\n\n`);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.body.result.structuredContent).toEqual({ done: true });
  });

  it('is no result: an upstream that ends with it has failed', async () => {
    const reply = await answered(`${line({ progress: 1 })}${line({ progress: 2 })}`);
    expect(messagesOf(reply).at(-1).result.isError).toBe(true);
  });

  it('is not sent to a client that takes no streams, or with a token that is too long to be repeated', async () => {
    const reply = await answered(`${line({ progress: 1 })}${line({ done: true })}`, {
      headers: { accept: 'application/json' },
    });
    expect(reply.body.result.structuredContent).toEqual({ done: true });
    for (const progressToken of ['a'.repeat(257), { a: 1 }, null]) {
      const wrong = ask(world, 'tools/call', withToken('peek', progressToken));
      expect((await wrong).headers.get('content-type')).toBe('application/json');
      expect(school.last().values('accept')).toEqual(['application/json']);
    }
  });

  it('of the Account API is no result either, and restarts its deadline', async () => {
    const unread = {
      structuredContent: { viewer: { lessons: null } },
      content: [{}, { text: 'Could not be read right now: viewer.lessons.' }],
    };
    const ended = ask(world, 'tools/call', withToken('query_count'), { token });
    lines(await arrived()).end(line({ progress: 1 }));
    expect(messagesOf(await ended).at(-1).result).toMatchObject(unread);
    const short = await startWorld({
      profile: 'A',
      overrides: {
        upstreams: { slow: { url: school.url } },
        mcp: { tools: TOOLS, resources: [], prompts: [] },
        routes: ROUTES,
        account: account(),
        constants: { account: { deadline: 0.5 } },
      },
    });
    try {
      const of = await tokenOf(short, 'account:read');
      const reply = ask(short, 'tools/call', withToken('query_count'), { token: of });
      const response = lines(await arrived());
      const began = performance.now();
      for (let progress = 1; performance.now() - began < 1500; progress += 1) {
        response.write(line({ progress }));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      response.end(line({ lessons: 12 }));
      expect(messagesOf(await reply).at(-1).result.structuredContent).toEqual({ viewer: { lessons: 12 } });
      const silent = ask(short, 'tools/call', withToken('query_count'), { token: of });
      lines(await arrived()).write('\n');
      expect((await silent).body.result).toMatchObject(unread);
    } finally {
      await short.close();
    }
  });

  it('is not read from an answer of another type, or from a failure', async () => {
    const plain = ask(world, 'tools/call', withToken());
    (await arrived()).writeHead(200, { 'content-type': 'application/json' }).end('{"progress":1}');
    expect((await plain).body.result.structuredContent).toEqual({ progress: 1 });
    const failed = ask(world, 'tools/call', withToken());
    (await arrived()).writeHead(404, { 'content-type': 'application/x-ndjson' }).end(line({ progress: 1 }));
    expect((await failed).body.result.isError).toBe(true);
  });

  it('keeps a call alive beyond the deadline, up to the longest call, and silence does not', async () => {
    const short = await startWorld({
      profile: 'A',
      overrides: {
        upstreams: { slow: { url: school.url, timeout: '300ms' } },
        account: account(),
        routes: ROUTES,
        mcp: { tools: TOOLS, resources: [], prompts: [] },
        constants: { mcp: { deadline: 0.4, longestCall: 1.2 } },
      },
    });
    try {
      const work = async (until: number) => {
        const began = performance.now();
        const reply = ask(short, 'tools/call', withToken());
        const response = lines(await arrived());
        let progress = 0;
        while (performance.now() - began < until && !response.destroyed) {
          progress += 1;
          response.write(line({ progress }));
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        const took = performance.now() - began;
        response.end(line({ done: true }));
        return { last: messagesOf(await reply).at(-1), took };
      };
      expect((await work(800)).last.result.structuredContent).toEqual({ done: true });
      const endless = await work(10_000);
      expect(endless.last.result.isError).toBe(true);
      expect(endless.took).toBeLessThan(3000);
      const silent = ask(short, 'tools/call', withToken());
      lines(await arrived()).write('\n');
      expect((await silent).body.result.isError).toBe(true);
    } finally {
      await short.close();
    }
  });
});

describe('a cancellation', () => {
  const initialized = async (by: string | undefined) => {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const reply = await ask(world, 'initialize', params, { token: by });
    return reply.headers.get('mcp-session-id') ?? '';
  };
  const message = (session: string | undefined, by: string | undefined, body: object) =>
    post(world, JSON.stringify({ jsonrpc: '2.0', ...body }), {
      token: by,
      headers: {
        'mcp-protocol-version': '2025-11-25',
        ...(session === undefined ? {} : { 'mcp-session-id': session }),
      },
    });
  const counting = (id: unknown, session: string | undefined, by: string | undefined, more: object = {}) =>
    message(session, by, { id, method: 'tools/call', params: { name: 'count', arguments: {}, ...more } });
  const cancel = (requestId: unknown, session: string | undefined, by: string | undefined) =>
    message(session, by, { method: 'notifications/cancelled', params: { requestId, reason: 'enough' } });

  it('finds a call by session, grant and id, and no other', async () => {
    const session = await initialized(token);
    expect(session).toMatch(/^[0-9a-f-]{36}$/);
    expect(await initialized(token)).not.toBe(session);
    const result = counting(5, session, token);
    const response = await arrived();
    const wrong = [
      [5, await initialized(token), token],
      [5, undefined, token],
      [5, session, other],
      [5, session, undefined],
      [6, session, token],
      ['5', session, token],
      [{ 5: 5 }, session, token],
    ] as const;
    for (const [id, by, who] of wrong) expect((await cancel(id, by, who)).status).toBe(202);
    expect(response.destroyed).toBe(false);
    expect((await cancel(5, session, token)).status).toBe(202);
    await school.last().closed;
    const { isError, content } = (await result).body.result;
    expect([isError, content[0].text]).toEqual([true, 'This call was cancelled.']);
    expect((await cancel(5, session, token)).status).toBe(202);
  });

  describe.skipIf(!redisPresent())('at another gate of the same store', () => {
    let redis: RedisServer;
    let [here, there]: (World | undefined)[] = [];
    beforeAll(async () => {
      redis = await startRedis();
      const overrides = {
        store: { kind: 'redis', url: { env: 'REDIS_URL' } },
        secret: { env: 'COURSEGATE_SECRET' },
        upstreams: { slow: { url: school.url } },
        routes: ROUTES,
        account: account(),
        mcp: { tools: TOOLS, resources: RESOURCES, prompts: [] },
      };
      const environment = { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) };
      here = await startWorld({ profile: 'A', environment, overrides });
      // Both have the address of the first, as behind one load balancer.
      there = await startWorld({ profile: 'A', environment, overrides: { ...overrides, origin: here.origin } });
    });
    afterAll(async () => {
      await Promise.all([here?.close(), there?.close()]);
      await redis.close();
    });

    it.each([
      ['tools/call', { name: 'count', arguments: {} }],
      ['tools/call', { name: 'own_count', arguments: {} }],
      ['tools/call', { name: 'query_count', arguments: {} }],
      ['resources/read', { uri: 'school://count' }],
    ])('ends the call of the same member and session, and no other: %s %o', async (method, params) => {
      const [first, second] = [here as World, there as World];
      const [own, stranger] = [
        await tokenOf(first, 'account:read courses:write'),
        await tokenOf(first, 'account:read'),
      ];
      const begin = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
      const sessionAt = async (by: string) =>
        (await ask(first, 'initialize', begin, { token: by })).headers.get('mcp-session-id') ?? '';
      const [session, another] = [await sessionAt(own), await sessionAt(own)];
      // fetch() would send the other gate's own address as Host.
      const send = (at: World, by: string | undefined, of: string, body: object) =>
        rawRequest(at.origin, {
          ...{ path: '/mcp', method: 'POST', body: JSON.stringify({ jsonrpc: '2.0', ...body }) },
          headers: {
            ...{ host: new URL(first.origin).host, 'content-type': 'application/json' },
            ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' },
            ...{ 'mcp-session-id': of, ...(by === undefined ? {} : { authorization: `Bearer ${by}` }) },
          },
        });
      const cancelThere = (by: string | undefined, of: string, requestId: unknown) =>
        send(second, by, of, { method: 'notifications/cancelled', params: { requestId } });
      const result = send(first, own, session, { id: 5, method, params });
      result.catch(() => {});
      const response = await arrived();
      const { closed } = school.last();
      for (const [by, of, id] of [
        [stranger, session, 5],
        [undefined, session, 5],
        [own, another, 5],
        [own, session, 6],
        [own, session, '5'],
      ] as const)
        expect((await cancelThere(by, of, id)).status).toBe(202);
      // When a later call has noticed its cancellation, the first has looked for one, too.
      const later = send(first, own, session, { id: 7, method, params });
      await arrived();
      const laterClosed = school.last().closed;
      await cancelThere(own, session, 7);
      await laterClosed;
      await later;
      expect(response.destroyed).toBe(false);
      expect((await cancelThere(own, session, 5)).status).toBe(202);
      await closed;
      const body = JSON.parse((await result).text);
      const said = body.error?.message ?? body.result.content[0].text;
      expect(said).toContain('This call was cancelled.');
    });
  });

  it('works for anonymous callers, by the session that they were given', async () => {
    const session = await initialized(undefined);
    const result = counting('a', session, undefined);
    await arrived();
    await cancel('a', session, undefined);
    await school.last().closed;
    expect((await result).body.result.isError).toBe(true);
  });

  it('of a call with an idempotency key keeps no result: a repeated call says that nothing is known', async () => {
    const session = await initialized(token);
    const params = { name: 'import_students', arguments: { idempotencyKey: 'import-no-1-of-sam' } };
    const result = counting(9, session, token, params);
    await arrived();
    await cancel(9, session, token);
    await school.last().closed;
    const before = school.requests.length;
    for (const answer of [await result, await ask(world, 'tools/call', params, { token })]) {
      const { isError, content } = answer.body.result;
      expect([isError, content[0].text]).toEqual([
        true,
        expect.stringMatching(/^This call was cancelled\. It is not known whether this was done/),
      ]);
    }
    expect(school.requests.length).toBe(before);
    expect((await peek()).structuredContent).toEqual({ free: true });
  });

  it('by closing the request leaves a call with an idempotency key running, and its result is kept', async () => {
    const left = new AbortController();
    const args = { idempotencyKey: 'import-no-2-of-sam' };
    const sent = fetch(`${world.origin}/mcp`, {
      method: 'POST',
      signal: left.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'import_students', arguments: args },
      }),
    });
    const response = await arrived();
    left.abort();
    await expect(sent).rejects.toThrow();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"imported":3}');
    const again = await askModern(world, 'tools/call', { name: 'import_students', arguments: args }, { token });
    expect(again.body.result.structuredContent).toEqual({ imported: 3 });
  });
});
