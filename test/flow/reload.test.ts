import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, bearer, redeem, registerApp, revoke } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { connect } from '../support/connection.ts';
import { offeredScopes, SAM } from '../support/member.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

/** Far more than a loaded machine needs. */
const PATIENCE = { timeout: 30_000, interval: 20 };

const open = { anonymous: 'serve' } as const;
const thing = (upstream: string) => ({
  match: 'GET /api/v1/thing/**',
  upstream,
  rewrite: `/of-${upstream}/**`,
  ...open,
});

interface Stream {
  readonly heard: () => string;
  /** Whether it has ended, and if so whether completely. */
  readonly ended: () => 'whole' | 'cut' | undefined;
  leave(): void;
}

async function listen(url: string, headers: Record<string, string> = {}): Promise<Stream> {
  const request = http.get(url, { agent: false, headers });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  let heard = '';
  let ended: 'whole' | 'cut' | undefined;
  answer.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  answer.on('error', () => undefined);
  answer.once('close', () => {
    ended = answer.complete ? 'whole' : 'cut';
  });
  await expect.poll(() => heard, PATIENCE).toContain('hello');
  return { heard: () => heard, ended: () => ended, leave: () => request.destroy() };
}

/**
 * An upstream that responds with its name and the request's URL, keeps streams open, and holds `/slow` requests until
 * `letGo()`.
 */
async function startNamed(name: string) {
  const streams = new Set<http.ServerResponse>();
  const held = new Set<http.ServerResponse>();
  const upstream = await startRecordingUpstream((request, response) => {
    if (request.url?.endsWith('/stream')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: hello\n\n');
      streams.add(response);
      response.once('close', () => streams.delete(response));
    } else if (request.url?.endsWith('/slow')) held.add(response);
    else response.end(`${name} ${request.url}`);
  });
  return Object.assign(upstream, {
    tick() {
      for (const response of streams) response.write('data: tick\n\n');
    },
    held: () => held.size,
    letGo() {
      for (const response of held) response.end(`${name} at last`);
      held.clear();
    },
    connected: () =>
      new Promise<number>((resolve) => upstream.server.getConnections((_error, count) => resolve(count))),
  });
}

describe('a reload', () => {
  let one: Awaited<ReturnType<typeof startNamed>>;
  let two: Awaited<ReturnType<typeof startNamed>>;
  let world: World;
  let app: App;
  let token: string;
  const ahead = 0;
  const settings = (routes: readonly object[], more: Readonly<Record<string, unknown>> = {}) => ({
    admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
    upstreams: { one: { url: one.url }, two: { url: two.url } },
    routes: [{ match: 'GET /api/v1/courses/**', upstream: 'school', scopes: ['courses:read'] }, ...routes],
    ...more,
  });
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await fetch(world.origin + path, { headers });
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  const metric = async (name: string) => {
    const text = await (await fetch(`${world.admin}/metrics`)).text();
    return text.split('\n').find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  };

  beforeAll(async () => {
    [one, two] = [await startNamed('one'), await startNamed('two')];
    world = await startWorld({
      profile: 'A',
      environment: { COMMAND_SECRET },
      clock: () => Date.now() + ahead,
      overrides: settings([thing('one')]),
    });
    app = await registerApp(world.origin);
    token = (await connect(app)).access_token;
  });
  afterAll(async () => {
    await world.close();
    await one.close();
    await two.close();
  });

  it('loses no request, and answers each by one complete configuration', async () => {
    const answers: string[] = [];
    let going = true;
    const asking = Array.from({ length: 4 }, async () => {
      while (going) {
        const { status, text } = await get('/api/v1/thing/x');
        answers.push(`${status} ${text}`);
      }
    });
    for (let times = 0; times < 5; times += 1) {
      for (const name of ['two', 'one']) {
        expect(await world.reload(settings([thing(name)]))).toEqual({ kind: 'taken', keys: expect.any(Array) });
        // All later requests use the new configuration.
        expect((await get('/api/v1/thing/y')).text).toBe(`${name} /of-${name}/y`);
      }
    }
    going = false;
    await Promise.all(asking);
    expect(answers.length).toBeGreaterThan(20);
    expect(new Set(answers)).toEqual(new Set(['200 one /of-one/x', '200 two /of-two/x']));
  });

  it('finishes requests in progress as they began, then releases what is no longer configured', async () => {
    const third = await startNamed('three');
    try {
      await world.reload(settings([thing('three')], { upstreams: { three: { url: third.url } } }));
      const slow = get('/api/v1/thing/slow');
      await expect.poll(third.held, PATIENCE).toBe(1);
      await world.reload(settings([]));
      expect((await get('/api/v1/thing/x')).status).toBe(404);
      expect(await third.connected()).toBeGreaterThan(0);
      third.letGo();
      expect(await slow).toMatchObject({ status: 200, text: 'three at last' });
      await expect.poll(third.connected, PATIENCE).toBe(0);
    } finally {
      await third.close();
    }
  });

  it('applies the new rules to the next request with the same token', async () => {
    const route = (scope: string) => ({ match: 'GET /api/v1/mine', upstream: 'one', scopes: [scope] });
    await world.reload(settings([route('courses:read')]));
    expect((await get('/api/v1/mine', bearer(token))).status).toBe(200);
    await world.reload(settings([route('orders:read')]));
    const refused = await get('/api/v1/mine', bearer(token));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('www-authenticate')).toContain('orders:read');
    await world.reload(settings([route('courses:read')]));
    expect((await get('/api/v1/mine', bearer(token))).status).toBe(200);
  });

  it('keeps streams open when their route and upstream are gone, and still closes them on revocation', async () => {
    const heard = await startNamed('heard');
    const route = { match: 'GET /api/v1/heard/**', upstream: 'heard', scopes: ['courses:read'] };
    await world.reload(settings([route], { upstreams: { heard: { url: heard.url } } }));
    const tokens = await connect(app);
    const revoked = await listen(`${world.origin}/api/v1/heard/stream`, bearer(tokens.access_token));
    const kept = await listen(`${world.origin}/api/v1/heard/stream`, bearer(token));
    await world.reload(settings([]));
    expect((await get('/api/v1/heard/x', bearer(token))).status).toBe(404);
    heard.tick();
    for (const stream of [revoked, kept]) await expect.poll(stream.heard, PATIENCE).toContain('tick');
    await revoke(app, String(tokens.refresh_token));
    await expect.poll(revoked.ended, PATIENCE).toBe('cut');
    expect(kept.ended()).toBeUndefined();
    kept.leave();
    await expect.poll(heard.connected, PATIENCE).toBe(0);
    await heard.close();
  });

  it('completes earlier streams after the grace period', async () => {
    await world.reload(settings([thing('one')]));
    const stream = await listen(`${world.origin}/api/v1/thing/stream`);
    await world.reload(settings([thing('two')], { constants: { reload: { grace: 0.1 } } }));
    await expect.poll(stream.ended, PATIENCE).toBe('whole');
    await world.reload(settings([thing('one')]));
  });

  it('completes the oldest of many configurations that still have streams', async () => {
    await world.reload(settings([thing('one')]));
    const streams: Stream[] = [];
    for (let times = 0; times < 10; times += 1) {
      streams.push(await listen(`${world.origin}/api/v1/thing/stream`));
      await world.reload(settings([thing('one')], { name: `School ${times}` }));
    }
    await expect.poll(() => streams.map((stream) => stream.ended()).slice(0, 2), PATIENCE).toEqual(['whole', 'whole']);
    expect(streams.slice(2).map((stream) => stream.ended())).toEqual(Array(8).fill(undefined));
    for (const stream of streams) stream.leave();
  });

  it('keeps a WebSocket to the site open', async () => {
    const site = await startNamed('site');
    site.onUpgrade((_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
      socket.pipe(socket);
    });
    await world.reload(settings([], { upstreams: { legacy: { url: site.url } }, site: { upstream: 'legacy' } }));
    const request = http.get(`${world.origin}/socket`, {
      agent: false,
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      },
    });
    const [, socket] = await once(request, 'upgrade');
    let echoed = '';
    socket.on('data', (chunk: Buffer) => {
      echoed += chunk.toString();
    });
    await world.reload(settings([], { site: { upstream: 'two' } }));
    expect((await get('/page')).text).toBe('two /page');
    socket.write('still here');
    await expect.poll(() => echoed, PATIENCE).toBe('still here');
    socket.destroy();
    await expect.poll(site.connected, PATIENCE).toBe(0);
    await site.close();
  });

  it('does not disturb a member who is about to approve an app', async () => {
    await world.reload(settings([thing('one')]));
    const request = await authorizationRequest(app);
    const browser = createBrowser();
    const signIn = await browser.open(request.url);
    await world.reload(settings([thing('two')], { name: 'Another name' }));
    const consent = await browser.submit(signIn, { login: SAM.login, password: SAM.password });
    expect(offeredScopes(consent)).toContain('courses:read');
    await world.reload(settings([thing('two')], { name: 'A third name' }));
    const scope = offeredScopes(consent);
    const isOurs = (location: string) => !location.startsWith(app.redirectUri);
    const last = await browser.submit(consent, { decision: 'approve', scope }, isOurs);
    const tokens = await redeem(app, request, new URL(String(last.location)));
    expect((await get('/api/v1/courses', bearer(tokens.access_token))).status).toBe(200);
    expect((await get('/api/v1/courses', bearer(token))).status).toBe(200);
  });

  it('does not restart the window of a limit', async () => {
    const limits = { limits: { ...FREE, address: { requests: 3, per: '1m' } } };
    await world.reload(settings([thing('one')], limits));
    for (let times = 0; times < 3; times += 1) expect((await get('/api/v1/thing/x')).status).toBe(200);
    await world.reload(settings([thing('two')], limits));
    expect((await get('/api/v1/thing/x')).status).toBe(429);
    await world.reload(settings([thing('one')]));
  });

  it('counts a caller’s open requests from before and after it together', async () => {
    const limits = { limits: { ...FREE, open: { address: 2, member: 100 } } };
    await world.reload(settings([thing('one')], limits));
    const stream = await listen(`${world.origin}/api/v1/thing/stream`);
    const other = await listen(`${world.origin}/api/v1/thing/stream`);
    await world.reload(settings([thing('two')], limits));
    expect((await get('/api/v1/thing/x')).status).toBe(429);
    stream.leave();
    other.leave();
    await expect.poll(async () => (await get('/api/v1/thing/x')).status, PATIENCE).toBe(200);
    await world.reload(settings([thing('one')]));
  });

  it('keeps the breaker of an upstream open, and removes that of a replaced one', async () => {
    const dead = await startRecordingUpstream();
    await dead.close();
    const to = (url: string, name: string) => ({
      ...settings([thing('dead')], { name }),
      upstreams: { dead: { url, breaker: { failures: 1 } } },
      constants: { upstreams: { dead: { breaker: { cooldown: 600 } } } },
    });
    await world.reload(to(dead.url, 'A'));
    expect((await get('/api/v1/thing/x')).status).toBe(502);
    await world.reload(to(dead.url, 'B'));
    expect((await get('/api/v1/thing/x')).status).toBe(503);
    expect(await metric('coursegate_upstream_breaker_open{upstream="dead"}')).toMatch(/ 1$/);
    await world.reload(to(one.url, 'B'));
    expect((await get('/api/v1/thing/x')).status).toBe(200);
    await world.reload(settings([thing('one')]));
    expect(await metric('coursegate_upstream_breaker_open{upstream="dead"}')).toBeUndefined();
  });

  it('keeps the counts of observe mode', async () => {
    const observe = (name: string) =>
      settings([], {
        name,
        site: { upstream: 'one' },
        enforcement: { mode: 'observe', cookies: ['session'] },
      });
    await world.reload(observe('A'));
    await get('/api/v2/seen');
    const seen = async () => {
      const { observed } = (await (await fetch(`${world.admin}/observed.json`)).json()) as {
        observed: { path: string; requests: number }[];
      };
      return observed.find(({ path }) => path === '/api/v2/seen')?.requests;
    };
    await expect.poll(seen, PATIENCE).toBe(1);
    await world.reload(observe('B'));
    await get('/api/v2/seen');
    await expect.poll(seen, PATIENCE).toBe(2);
    await world.reload(settings([thing('one')]));
    expect((await fetch(`${world.admin}/observed.json`)).status).toBe(404);
  });

  it('keeps the keys, and serves a later rotation at once', async () => {
    const kids = async () => {
      const { keys } = JSON.parse((await get('/.well-known/jwks.json')).text) as { keys: { kid: string }[] };
      return keys.map(({ kid }) => kid);
    };
    const before = await kids();
    await world.reload(settings([thing('two')]));
    expect(await kids()).toEqual(before);
    expect((await command(world.admin, '/keys/rotate', { body: '{"now":true}' })).status).toBe(200);
    const after = await kids();
    expect(after[0]).toBe(before[1]);
    expect(after).toHaveLength(6);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['the origin', { origin: 'http://localhost:1' }, 'origin'],
    ['the listener’s port', { listen: { port: 1 } }, 'listen.port'],
    ['the header size limit', { limits: { headers: '8KiB' } }, 'limits.headers'],
    ['the store', { store: { kind: 'memory' } }, 'store.kind'],
  ])('is refused as a whole when it would change %s', async (_title, change, key) => {
    await world.reload(settings([thing('one')]));
    const reload = await world.reload(settings([thing('two')], change));
    expect(reload).toMatchObject({ kind: 'refused' });
    expect(String((reload as { why: Error }).why)).toContain(`${key}: cannot be changed while the gate is running`);
    expect((await get('/api/v1/thing/x')).text).toBe('one /of-one/x');
    expect(await metric('coursegate_config_last_reload_successful')).toMatch(/ 0$/);
    expect((await fetch(`${world.admin}/readyz`)).status).toBe(200);
    await world.reload(settings([thing('two')]));
    expect(await metric('coursegate_config_last_reload_successful')).toMatch(/ 1$/);
  });
});

const FREE = { address: 'unlimited', member: 'unlimited', client: 'unlimited', attempts: 'unlimited' };
