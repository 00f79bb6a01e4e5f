import { once } from 'node:events';
import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import { connect as connectTo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type App, bearer, registerApp } from '../support/app.ts';
import { approved, connect, refreshForm } from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { rawRequest } from '../support/raw.ts';
import { answerOk, type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

/** The client address, as the operator's own proxy would report it. */
const from = (address: string) => ({ 'x-forwarded-for': address });

/** An address that no other test uses. */
let addresses = 0;
function someAddress(): string {
  addresses += 1;
  return `203.0.113.${addresses}`;
}

const time = { ahead: 0 };
let world: World;
let upstream: RecordingUpstream;
let app: App;
let member: string;
let other: string;

beforeAll(async () => {
  upstream = await startRecordingUpstream();
  world = await startWorld({
    profile: 'B',
    clock: () => Date.now() + time.ahead,
    overrides: {
      listen: { trustedProxies: ['loopback'] },
      upstreams: { own: { url: upstream.url, breaker: { failures: 0 } } },
      tokens: { access: '8h' },
      limits: {
        address: { requests: 20, per: '1m' },
        member: { requests: 6, per: '1m' },
        client: { requests: 9, per: '1m' },
        attempts: { requests: 5, per: '1m' },
        open: { address: 6, member: 4 },
      },
      routes: [
        { match: 'GET /api/v1/x', upstream: 'own' },
        { match: 'GET /api/v1/refused', upstream: 'own', anonymous: 'refuse' },
        { match: 'GET /api/v1/scarce', upstream: 'own', limits: { member: { requests: 2, per: '10s' } } },
        { match: 'GET /api/v1/free', upstream: 'own', limits: { member: 'unlimited', address: 'unlimited' } },
      ],
    },
  });
  const own = (options = {}) => registerApp(world.origin, options);
  app = await own();
  member = (await connect(app)).access_token;
  nextMinute();
  other = (await connect(await own(), { member: OLU })).access_token;
});
afterAll(async () => {
  await world.close();
  await upstream.close();
});

/** Moves to a new minute, in which no requests have been made yet. */
function nextMinute(): void {
  time.ahead += 60_000;
}

const ask = (path: string, headers: Record<string, string> = {}) => rawRequest(world.origin, { path, headers });

async function statuses(times: number, path: string, headers: Record<string, string>): Promise<number[]> {
  const got: number[] = [];
  for (let at = 0; at < times; at += 1) got.push((await ask(path, headers)).status);
  return got;
}

describe('the rate limit of a member', () => {
  it('is reported in each response, and returns 429 with Retry-After when it is reached', async () => {
    nextMinute();
    const first = await ask('/api/v1/x', bearer(member));
    expect(first.status).toBe(200);
    expect(first.headers['ratelimit-policy']).toBe('"member";q=6;w=60');
    expect(first.headers.ratelimit).toMatch(/^"member";r=5;t=(60|59)$/);
    expect(await statuses(5, '/api/v1/x', bearer(member))).toEqual([200, 200, 200, 200, 200]);
    const asked = upstream.requests.length;
    const refused = await ask('/api/v1/x', bearer(member));
    expect(refused.status).toBe(429);
    expect(refused.headers['content-type']).toBe('application/problem+json');
    expect(refused.headers['cache-control']).toBe('no-store');
    expect(refused.headers['retry-after']).toMatch(/^(60|5\d)$/);
    expect(refused.headers['ratelimit-policy']).toBe('"member";q=6;w=60');
    expect(refused.headers.ratelimit).toBe(`"member";r=0;t=${refused.headers['retry-after']}`);
    expect(refused.headers).not.toHaveProperty('www-authenticate');
    expect(JSON.parse(refused.text)).toMatchObject({ status: 429, code: 'too_many_requests' });
    expect(JSON.stringify([refused.headers, refused.text])).not.toMatch(/m-1001|127\.0\.0\.1|203\.0/);
    expect(upstream.requests.length).toBe(asked);
  });

  it('applies to one member for one minute', async () => {
    nextMinute();
    expect((await statuses(7, '/api/v1/x', bearer(member))).at(-1)).toBe(429);
    expect((await ask('/api/v1/x', bearer(other))).status).toBe(200);
    expect((await ask('/api/v1/x', from(someAddress()))).status).toBe(200);
    nextMinute();
    expect((await ask('/api/v1/x', bearer(member))).status).toBe(200);
  });

  it('may be read by pages of other origins', async () => {
    nextMinute();
    const exposed = String((await ask('/api/v1/x', bearer(member))).headers['access-control-expose-headers']);
    expect(exposed.toLowerCase().split(', ')).toEqual(
      expect.arrayContaining(['retry-after', 'ratelimit', 'ratelimit-policy']),
    );
  });

  it('can be set for one route, where it is counted separately', async () => {
    nextMinute();
    expect(await statuses(3, '/api/v1/scarce', bearer(member))).toEqual([200, 200, 429]);
    expect((await ask('/api/v1/scarce', bearer(member))).headers['ratelimit-policy']).toBe('"member";q=2;w=10');
    expect((await ask('/api/v1/x', bearer(member))).headers.ratelimit).toMatch(/^"member";r=5;/);
    time.ahead += 10_000;
    expect((await ask('/api/v1/scarce', bearer(member))).status).toBe(200);
  });

  it('can be unlimited', async () => {
    nextMinute();
    expect(new Set(await statuses(8, '/api/v1/free', bearer(member)))).toEqual(new Set([200]));
    expect((await ask('/api/v1/free', bearer(member))).headers).not.toHaveProperty('ratelimit');
  });

  it('counts an app for all its members together, and reports that only when it is the limit that is reached', async () => {
    nextMinute();
    const second = (await connect(app, { member: OLU })).access_token;
    expect(await statuses(5, '/api/v1/x', bearer(member))).toEqual([200, 200, 200, 200, 200]);
    const fields = (await ask('/api/v1/x', bearer(second))).headers;
    expect([fields['ratelimit-policy'], fields.ratelimit]).toEqual([
      '"member";q=6;w=60',
      expect.stringMatching(/^"member";r=5;t=\d+$/),
    ]);
    expect(await statuses(3, '/api/v1/x', bearer(second))).toEqual([200, 200, 200]);
    expect((await ask('/api/v1/x', bearer(second))).headers['ratelimit-policy']).toBe('"client";q=9;w=60');
    // The same member with another app counts as another client.
    expect((await ask('/api/v1/x', bearer(other))).status).toBe(200);
  });
});

describe('the rate limit of an address', () => {
  it('applies to anonymous requests from there, not to members or other addresses', async () => {
    nextMinute();
    const address = someAddress();
    expect(await statuses(21, '/api/v1/x', from(address))).toEqual([...Array(20).fill(200), 429]);
    expect((await ask('/api/v1/x', from(address))).headers['ratelimit-policy']).toBe('"address";q=20;w=60');
    expect((await ask('/api/v1/x', { ...from(address), ...bearer(member) })).status).toBe(200);
    expect((await ask('/api/v1/x', from(someAddress()))).status).toBe(200);
  });

  it('counts refused requests, and then returns 429 instead of 401', async () => {
    nextMinute();
    const guess = { ...from(someAddress()), ...bearer('guess') };
    expect(await statuses(21, '/api/v1/x', guess)).toEqual([...Array(20).fill(401), 429]);
    const bare = from(someAddress());
    expect(await statuses(21, '/api/v1/refused', bare)).toEqual([...Array(20).fill(401), 429]);
  });

  it('applies to a whole /64 of IPv6', async () => {
    nextMinute();
    const got: number[] = [];
    for (let at = 1; at <= 21; at += 1) got.push((await ask('/api/v1/x', from(`2001:db8:7:7::${at}`))).status);
    expect(got).toEqual([...Array(20).fill(200), 429]);
    expect((await ask('/api/v1/x', from('2001:db8:7:8::1'))).status).toBe(200);
  });

  it('cannot be avoided by claiming other addresses', async () => {
    nextMinute();
    const address = someAddress();
    const got: number[] = [];
    for (let at = 1; at <= 21; at += 1) got.push((await ask('/api/v1/x', from(`198.51.100.${at}, ${address}`))).status);
    expect(got.at(-1)).toBe(429);
  });

  it('is reported in the format of the endpoint: OAuth JSON or a page', async () => {
    nextMinute();
    const address = someAddress();
    await statuses(20, '/api/oauth/userinfo', from(address));
    const userinfo = await ask('/api/oauth/userinfo', from(address));
    expect([userinfo.status, JSON.parse(userinfo.text).error]).toEqual([429, 'temporarily_unavailable']);
    const page = await ask('/oauth/authorize?client_id=x', { ...from(address), accept: 'text/html' });
    expect(page.status).toBe(429);
    expect(page.headers['content-type']).toMatch(/^text\/html/);
    expect(page.headers['cache-control']).toBe('no-store');
    expect(page.headers['retry-after']).toMatch(/^\d+$/);
  });

  it('does not apply to the site', async () => {
    nextMinute();
    expect(new Set(await statuses(40, '/courses', from(someAddress())))).toEqual(new Set([200]));
  });

  it('is not sent with responses that may be cached', async () => {
    nextMinute();
    const { headers } = await ask('/.well-known/oauth-protected-resource', from(someAddress()));
    expect(headers['cache-control']).toContain('public');
    expect(headers).not.toHaveProperty('ratelimit');
  });
});

describe('guessing at the token endpoint', () => {
  const post = (path: string, form: Record<string, string | undefined>, address: string) =>
    rawRequest(world.origin, {
      method: 'POST',
      path,
      headers: { ...from(address), 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(
        Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined),
      ).toString(),
    });

  it('returns 429 for that address, in OAuth JSON that makes no client discard its token, and for no other', async () => {
    nextMinute();
    const address = someAddress();
    const { form } = await approved(app);
    const got: number[] = [];
    for (let at = 0; at < 5; at += 1)
      got.push((await post('/api/oauth/token', { ...form, code: `guess-${at}` }, address)).status);
    expect(got).toEqual([400, 400, 400, 400, 400]);
    const refused = await post('/api/oauth/token', form, address);
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.text)).toMatchObject({ error: 'temporarily_unavailable' });
    expect(refused.headers['cache-control']).toBe('no-store');
    expect(refused.headers['retry-after']).toMatch(/^\d+$/);
    expect(refused.headers['ratelimit-policy']).toBe('"attempts";q=5;w=60');
    const right = await post('/api/oauth/token', form, someAddress());
    expect(right.status).toBe(200);
  });

  it('does not count successful requests, because a hosted app refreshes for all its members from one address', async () => {
    nextMinute();
    const address = someAddress();
    let { refresh_token: token } = await connect(app);
    for (let at = 0; at < 7; at += 1) {
      const renewed = await post('/api/oauth/token', refreshForm(app, token), address);
      expect(renewed.status).toBe(200);
      token = JSON.parse(renewed.text).refresh_token;
    }
  });

  it.each(['/api/oauth/introspect', '/api/oauth/revoke', '/api/oauth/par'])('is limited at %s too', async (path) => {
    nextMinute();
    const address = someAddress();
    const got: number[] = [];
    for (let at = 0; at < 6; at += 1)
      got.push((await post(path, { client_id: `guess-${at}`, client_secret: 'x', token: 'x' }, address)).status);
    expect(got.slice(0, 5).every((status) => status === 400 || status === 401)).toBe(true);
    expect(got.at(-1)).toBe(429);
  });
});

describe('the limit of open streams and WebSockets', () => {
  const open: ClientRequest[] = [];
  /** Opens a stream and waits until it has begun or was refused. */
  async function stream(headers: Record<string, string>): Promise<IncomingMessage> {
    const request = http.request(`${world.origin}/api/v1/free`, { agent: false, headers });
    request.on('error', () => undefined);
    request.end();
    open.push(request);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined).resume();
    return answer;
  }
  const endAll = () => {
    for (const request of open.splice(0)) request.destroy();
  };
  beforeAll(() => {
    upstream.script((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(':\n\n');
    });
  });
  afterAll(() => {
    endAll();
    upstream.script(answerOk);
  });

  it.each([
    ['a member', 4, () => bearer(member), () => bearer(other)],
    ['an address', 6, () => from('198.51.100.1'), () => from('198.51.100.2')],
  ])('%s may have %i streams, independently of others', async (_who, most, whose, others) => {
    nextMinute();
    for (let at = 0; at < most; at += 1) expect((await stream(whose())).statusCode).toBe(200);
    const refused = await stream(whose());
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1']);
    expect((await stream(others())).statusCode).toBe(200);
    endAll();
    // All places were released: as many streams may be opened again, and no more.
    await vi.waitFor(
      async () => {
        endAll();
        for (let at = 0; at < most; at += 1) expect((await stream(whose())).statusCode).toBe(200);
      },
      { timeout: 30_000 },
    );
    expect((await stream(whose())).statusCode).toBe(429);
    endAll();
  });

  it('frees its place however a request ends', async () => {
    nextMinute();
    const whose = { ...from('198.51.100.3'), ...bearer(member) };
    const endings: Record<string, () => Promise<unknown>> = {
      'an answer': async () => {
        upstream.script(answerOk);
        await ask('/api/v1/free', whose);
      },
      'an upstream that breaks off': async () => {
        upstream.script((_request, response) => {
          response.writeHead(200, { 'content-length': 10 }).write('x');
          setImmediate(() => response.destroy());
        });
        await ask('/api/v1/free', whose).catch(() => undefined);
      },
      'an upstream that resets': async () => {
        upstream.script((request) => void request.socket.destroy());
        expect((await ask('/api/v1/free', whose)).status).toBe(502);
      },
      'a client that leaves before an answer': async () => {
        const arrived = new Promise<void>((resolve) => upstream.script(() => resolve()));
        const request = http.request(`${world.origin}/api/v1/free`, { agent: false, headers: whose });
        request.on('error', () => undefined).end();
        await arrived;
        request.destroy();
      },
      'a client that resets in the middle': async () => {
        upstream.script((_request, response) => void response.write('x'));
        const request = http.request(`${world.origin}/api/v1/free`, { agent: false, headers: whose });
        request.on('error', () => undefined).end();
        const [answer] = (await once(request, 'response')) as [IncomingMessage];
        answer.on('error', () => undefined);
        request.socket?.resetAndDestroy();
      },
      'a refusal': async () => {
        expect((await ask('/api/v1/free', { ...whose, ...bearer('guess') })).status).toBe(401);
      },
    };
    for (const [name, end] of Object.entries(endings)) {
      for (let times = 0; times < 8; times += 1) {
        // The rate limit of the app is not what is tested here.
        nextMinute();
        await vi.waitFor(end, { timeout: 30_000 });
      }
      upstream.script(answerOk);
      await vi.waitFor(async () => expect([name, (await ask('/api/v1/free', whose)).status]).toEqual([name, 200]), {
        timeout: 30_000,
      });
    }
    upstream.script(
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':'),
    );
    await vi.waitFor(
      async () => {
        endAll();
        for (let at = 0; at < 4; at += 1) expect((await stream(whose)).statusCode).toBe(200);
      },
      { timeout: 30_000 },
    );
    endAll();
  });

  it('counts WebSockets of the site, and frees their places', async () => {
    const handshake = () =>
      new Promise<[status: string, close: () => void]>((resolve) => {
        const socket = connectTo(Number(new URL(world.origin).port), '127.0.0.1', () => {
          socket.write(
            `GET /ws/echo HTTP/1.1\r\nHost: ${new URL(world.origin).host}\r\nX-Forwarded-For: 198.51.100.4\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
          );
        });
        socket.on('error', () => undefined);
        socket.once('data', (chunk) => resolve([chunk.toString('latin1').slice(9, 12), () => socket.destroy()]));
      });
    const fill = async () => {
      const opened: [string, () => void][] = [];
      for (let at = 0; at < 7; at += 1) opened.push(await handshake());
      for (const [, close] of opened) close();
      return opened.map(([status]) => status);
    };
    const first = await fill();
    expect(first.at(-1)).toBe('429');
    expect(first.slice(0, 6)).not.toContain('429');
    await vi.waitFor(async () => expect(await fill()).toEqual(first), { timeout: 30_000 });
  });
});

describe.skipIf(!redisPresent())('limits of two replicas on one Redis', () => {
  it('are shared, and separate while Redis is unavailable', async () => {
    const redis = await startRedis();
    const shared = { profile: 'B', environment: { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) } };
    const overrides = {
      store: { kind: 'redis', url: { env: 'REDIS_URL' } },
      secret: { env: 'COURSEGATE_SECRET' },
      listen: { trustedProxies: ['loopback'] },
      limits: { address: { requests: 10, per: '1h' } },
    };
    const one = await startWorld({ ...shared, overrides });
    const two = await startWorld({ ...shared, overrides });
    const courses = async (gate: World, address: string) =>
      (await rawRequest(gate.origin, { path: '/api/v1/courses', headers: from(address) })).status;
    try {
      for (let at = 0; at < 10; at += 1) expect(await courses(one, '198.51.100.1')).toBe(200);
      expect(await courses(one, '198.51.100.1')).toBe(429);
      const seen: number[] = [];
      await vi.waitFor(
        async () => {
          seen.push(await courses(two, '198.51.100.1'));
          expect(seen.at(-1)).toBe(429);
        },
        { timeout: 30_000 },
      );
      expect(seen.length).toBeLessThan(10);
      await redis.kill();
      for (const gate of [one, two]) {
        for (let at = 0; at < 10; at += 1) expect(await courses(gate, '198.51.100.2')).toBe(200);
        expect(await courses(gate, '198.51.100.2')).toBe(429);
      }
    } finally {
      await one.close();
      await two.close();
      await redis.close();
    }
  });
});
