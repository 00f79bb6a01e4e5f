import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { School } from '../../src/operator/demo/school.ts';
import { type GateProcess, gateProcess, schoolOf } from '../faults/gate-process.ts';
import { adversarialValues } from '../support/adversarial-json.ts';
import { authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { approve } from '../support/member.ts';
import { slowness } from '../support/pace.ts';
import { freePort } from '../support/world.ts';

/** Attempts per message: the best time counts, because a garbage collection can block the event loop as well. */
const TRIES = 6;

const ANSWER = 2 * 1024 * 1024 - 2048;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };

interface Front {
  readonly url: string;
  /** Sets the body for paths with this prefix; undefined removes it. */
  arm(prefix: string | undefined, body?: string, type?: string): void;
  /** How many requests it has answered instead of the other service. */
  readonly answered: () => number;
  close(): void;
}

/** A proxy in front of a service that can answer instead of it. */
async function frontOf(target: string): Promise<Front> {
  let answered = 0;
  let armed: { prefix: string; body: string; type: string } | undefined;
  const server: Server = createServer(async (request, response) => {
    if (armed !== undefined && request.url?.startsWith(armed.prefix)) {
      request.resume();
      answered += 1;
      response.writeHead(200, { 'content-type': armed.type }).end(armed.body);
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.entries(request.headers).filter(
      ([name]) => !['host', 'connection', 'content-length', 'transfer-encoding'].includes(name),
    );
    const answer = await fetch(target + request.url, {
      method: request.method ?? 'GET',
      headers: headers as [string, string][],
      body: chunks.length === 0 ? null : Buffer.concat(chunks),
      redirect: 'manual',
    });
    const passed = [...answer.headers].filter(
      ([name]) => !['transfer-encoding', 'connection', 'content-encoding', 'content-length'].includes(name),
    );
    response.writeHead(answer.status, passed.flat());
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arm: (prefix, body = '', type = 'application/json') => {
      armed = prefix === undefined ? undefined : { prefix, body, type };
    },
    answered: () => answered,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

let school: School;
let front: { readonly school: Front; readonly progress: Front; readonly events: Front };
let gate: GateProcess;
let token: string;

beforeAll(async () => {
  const port = await freePort();
  const origin = `http://localhost:${port}`;
  school = await schoolOf(origin);
  front = {
    school: await frontOf(school.urls.school),
    progress: await frontOf(school.urls.progress),
    events: await frontOf(school.urls.events),
  };
  const about = { title: 'T', description: 'D' };
  const get = { upstream: 'progress', path: '/shape' };
  const tools = [
    { ...about, name: 'read', get },
    {
      ...about,
      name: 'book',
      get,
      input: { properties: { at: { type: 'string' } } },
      paging: { of: 'text', argument: 'at', next: 'next' },
    },
    {
      ...about,
      name: 'list',
      get,
      input: { properties: { at: { type: 'string' } } },
      paging: { of: 'text', argument: 'at', next: 'next' },
    },
  ];
  gate = await gateProcess({
    school,
    environment: {
      PORT: String(port),
      COURSEGATE__ORIGIN: origin,
      COURSEGATE__UPSTREAMS__SCHOOL__URL: front.school.url,
      COURSEGATE__UPSTREAMS__PROGRESS__URL: front.progress.url,
      COURSEGATE__UPSTREAMS__EVENTS__URL: front.events.url,
      COURSEGATE__MCP: JSON.stringify({ tools, resources: [], prompts: [] }),
      COURSEGATE__LIMITS__ADDRESS: 'unlimited',
    },
  });
  await gate.start();
  const app = await registerApp(origin);
  const request = await authorizationRequest(app, { scope: 'account:read orders:read courses:read' });
  token = (await redeem(app, request, await approve(request.url, app.redirectUri))).access_token;
  origins.gate = origin;
  origins.admin = gate.admin;
});
afterAll(async () => {
  await gate?.close();
  for (const one of Object.values(front ?? {})) one.close();
  await school?.close();
});
const origins = { gate: '', admin: '' };

/** Milliseconds of processor time of a usual machine. */
const LIMIT = 50;

/** The gate's event loop turns of more than 50 ms so far, and their total processor time in milliseconds. */
async function blockedUntilNow(): Promise<{ readonly turns: number; readonly time: number }> {
  const text = await (await fetch(`${origins.admin}/metrics`)).text();
  const read = (name: string) =>
    Number(new RegExp(`^coursegate_event_loop_blocked_seconds_${name} ([0-9.e-]+)$`, 'm').exec(text)?.[1]);
  return { turns: read('count'), time: read('sum') * 1000 };
}

/**
 * The shortest time for which a message blocks the gate. Turns that are over the limit only because the machine is slow at
 * this moment do not count.
 */
async function heldUp(send: () => Promise<unknown>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && best > 0; tries += 1) {
    const before = await blockedUntilNow();
    await send();
    const after = await blockedUntilNow();
    const [turns, time] = [after.turns - before.turns, after.time - before.time];
    best = Math.min(best, time / slowness() <= LIMIT * turns ? 0 : time);
  }
  return best;
}

/** Sends every shape; fails with those that blocked the gate, and for how long. */
async function judge(
  shapes: readonly (readonly [string, string])[],
  send: (json: string) => Promise<unknown>,
  from?: Front,
) {
  const before = from?.answered() ?? 0;
  const slow: string[] = [];
  for (const [name, json] of shapes) {
    const took = await heldUp(() => send(json));
    if (!(took === 0)) slow.push(`${name}: ${Math.round(took)} ms`);
  }
  expect(slow).toEqual([]);
  if (from !== undefined) expect(from.answered() - before).toBeGreaterThanOrEqual(shapes.length);
}

const post = async (path: string, body: string, headers: Record<string, string> = JSON_TYPE) => {
  const response = await fetch(origins.gate + path, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
};
const MCP = { ...JSON_TYPE, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' };
const callTool = (name: string) =>
  post('/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } }), MCP);
const query = (text: string, variables = '{}') =>
  post('/account/graphql', `{"query":${JSON.stringify(text)},"variables":${variables}}`, {
    ...JSON_TYPE,
    authorization: `Bearer ${token}`,
  });

describe('no message of maximum size blocks the event loop for more than 50 ms', () => {
  it('as the response to a tool', async () => {
    await judge(adversarialValues(ANSWER), async (json) => {
      front.progress.arm('/shape', json);
      expect((await callTool('read')).status).toBe(200);
    });
  });

  it('as the response to a tool whose result is returned in parts', async () => {
    await judge(adversarialValues(ANSWER), async (json) => {
      front.progress.arm('/shape', `{"text":${json}}`);
      expect((await callTool('book')).status).toBe(200);
    });
  });

  it.each([
    ['as a message', (json: string) => json],
    ['in a message', (json: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/list","x":${json}}`],
    [
      'in its parameters',
      (json: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":${json}}}`,
    ],
    [
      'in the arguments of a tool',
      (json: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book","arguments":{"at":${json}}}}`,
    ],
    [
      'in the information about a client',
      (json: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":${json}},"clientInfo":{"name":"a","version":"1"}}}`,
    ],
  ])('sent to the MCP endpoint, %s', async (_, wrap) => {
    await judge(adversarialValues(1024 * 1024 - 512), async (json) => {
      await post('/mcp', wrap(json), MCP);
    });
  });

  it('sent to the Account API, in its document and its variables', async () => {
    await judge(adversarialValues(64 * 1024 - 512), async (json) => {
      await query('query($a: Int) { viewer { orders(first: $a) { nodes { id } } } }', json);
      await query(`{ viewer { id } } # ${json.slice(0, 20_000)}`);
      expect((await query(json.slice(0, 40_000))).status).not.toBe(404);
    });
  });

  it('as the response to the Account API', async () => {
    await judge(
      adversarialValues(ANSWER),
      async (json) => {
        front.school.arm('/api/v1/orders', `{"data":${json},"meta":{}}`);
        await query('{ viewer { orders(first: 50) { nodes { id lineItems { title } } } } }');
        front.school.arm(undefined);
      },
      front.school,
    );
  });

  it('as the response of a GraphQL upstream', async () => {
    await judge(
      adversarialValues(ANSWER),
      async (json) => {
        front.events.arm('/', `{"data":${json},"errors":${json.length < 1_000_000 ? json : '[]'}}`);
        await query('{ viewer { eventRegistrations(first: 50) { nodes { id } } } }');
        front.events.arm(undefined);
      },
      front.events,
    );
  });

  it('as a registration or an OAuth form', async () => {
    await judge(adversarialValues(16 * 1024 - 256), async (json) => {
      await post('/api/oauth/register', json);
      await post('/api/oauth/register', `{"redirect_uris":["https://a.example"],"client_name":${json}}`);
      await post('/api/oauth/par', new URLSearchParams({ client_id: 'a', claims: json }).toString(), FORM);
      await post('/api/oauth/token', `${json.slice(0, 8000)}`, FORM);
    });
  });

  it('in the header fields of a request', async () => {
    const fields = [
      'cookie',
      'accept',
      'accept-language',
      'if-none-match',
      'forwarded',
      'x-forwarded-for',
      'tracestate',
    ];
    const runs = ['a', ' ', ',', ';', '"', '\\', '=', '; ', ', ', 'a=', ';q=', 'for="', '<', '*/*;', 'W/"'].flatMap(
      (unit) => [unit, `${unit} `].map((one) => [JSON.stringify(one), `a${one.repeat(7000 / one.length)}a`] as const),
    );
    await judge(runs, async (value) => {
      for (const name of [...fields, 'authorization', 'dpop', 'origin', 'content-type']) {
        await post('/mcp', '{}', { ...MCP, [name]: value });
        await (await fetch(`${origins.gate}/openapi.json`, { headers: { [name]: value } })).arrayBuffer();
      }
      await (
        await fetch(`${origins.gate}/login`, { headers: { cookie: value, 'accept-language': value } })
      ).arrayBuffer();
    });
  });

  it('as the response to whoami', async () => {
    const app = await registerApp(origins.gate);
    await judge(
      adversarialValues(ANSWER),
      async (json) => {
        front.school.arm('/api/me', json);
        const { url } = await authorizationRequest(app);
        const headers = { cookie: 'school_session=a' };
        const first = await fetch(url, { redirect: 'manual', headers });
        const cookies = first.headers.getSetCookie().map((one) => one.split(';', 1)[0]);
        const next = new URL(first.headers.get('location') ?? '/', url);
        await (
          await fetch(next, { redirect: 'manual', headers: { cookie: [...cookies, headers.cookie].join('; ') } })
        ).text();
        front.school.arm(undefined);
      },
      front.school,
    );
  });
}, 300_000);
