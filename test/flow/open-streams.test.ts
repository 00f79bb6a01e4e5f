import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, bearer, registerApp, revoke } from '../support/app.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { connect, statusOf } from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

const SAM_ID = 'm-1001';
const OLU_ID = 'm-1002';
/** Far more than a loaded machine needs. That it takes less than a second is left to tests on a quiet machine. */
const PATIENCE = { timeout: 20_000, interval: 20 };

/** An upstream with event streams that never end; `tick` sends an event to all of them at once. */
async function startStreams(): Promise<RecordingUpstream & { tick(): void }> {
  const open = new Set<http.ServerResponse>();
  const upstream = await startRecordingUpstream((request, response) => {
    // A long poll: the upstream sends nothing for a long time.
    if (request.url?.endsWith('/poll')) return;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: hello\n\n');
    open.add(response);
    response.once('close', () => open.delete(response));
  });
  return Object.assign(upstream, {
    tick() {
      for (const response of open) response.write('data: tick\n\n');
    },
  });
}

const settings = (upstream: RecordingUpstream) => ({
  admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } },
  upstreams: { streams: { url: upstream.url } },
  routes: [
    { match: 'GET /api/v1/whoami', upstream: 'school', scopes: [] },
    { match: 'GET /api/v1/courses/**', upstream: 'school', scopes: ['courses:read'] },
    { match: 'GET /streams/**', upstream: 'streams', scopes: ['courses:read'], anonymous: 'serve' },
  ],
});

interface Stream {
  readonly heard: () => string;
  /** Whether it has ended, and if so whether completely. */
  readonly ended: () => 'whole' | 'cut' | undefined;
  leave(): void;
}

/** Opens an event stream through a gate and waits for its first event. */
async function listen(origin: string, headers: Record<string, string>): Promise<Stream> {
  const request = http.get(`${origin}/streams/events`, { agent: false, headers });
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
  await expect.poll(() => heard, PATIENCE).toBe('data: hello\n\n');
  return { heard: () => heard, ended: () => ended, leave: () => request.destroy() };
}

describe('a stream that is open when its grant ends', () => {
  let upstream: Awaited<ReturnType<typeof startStreams>>;
  let world: World;
  let app: App;
  let ahead = 0;
  beforeAll(async () => {
    upstream = await startStreams();
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now() + ahead,
      environment: { COMMAND_SECRET },
      overrides: { ...settings(upstream), tokens: { access: '60s' } },
    });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    await upstream.close();
  });

  const isHeard = async (stream: Stream) => {
    upstream.tick();
    await expect.poll(stream.heard, PATIENCE).toContain('tick');
  };

  it.each<[string, (tokens: { refresh_token?: string; access_token: string }) => Promise<unknown>]>([
    ['the app revokes its refresh token', ({ refresh_token }) => revoke(app, String(refresh_token))],
    ['the app revokes its access token', ({ access_token }) => revoke(app, access_token)],
    ['the member is revoked', () => command(world.admin, `/members/${SAM_ID}/revoke`)],
    [
      'the member is suspended',
      async () => {
        await command(world.admin, `/members/${SAM_ID}/suspend`);
        await command(world.admin, `/members/${SAM_ID}/resume`);
      },
    ],
  ])('is closed when %s, both here and at the upstream, while other streams stay open', async (_title, end) => {
    const tokens = await connect(app);
    const others = await connect(app, { member: OLU });
    const stream = await listen(world.origin, bearer(tokens.access_token));
    const arrived = upstream.last();
    const kept = [await listen(world.origin, bearer(others.access_token)), await listen(world.origin, {})] as const;
    await isHeard(stream);
    await end(tokens);
    await expect.poll(stream.ended, PATIENCE).toBe('cut');
    await arrived.closed;
    for (const other of kept) {
      await isHeard(other);
      expect(other.ended()).toBeUndefined();
      other.leave();
    }
    await command(world.admin, `/members/${OLU_ID}/revoke`);
  });

  it('is closed even before its response has begun', async () => {
    const tokens = await connect(app);
    const request = http.get(`${world.origin}/streams/poll`, { agent: false, headers: bearer(tokens.access_token) });
    const ended = once(request, 'error');
    await expect.poll(() => upstream.last().target, PATIENCE).toBe('/streams/poll');
    await command(world.admin, `/members/${SAM_ID}/revoke`);
    expect((await ended)[0]).toMatchObject({ code: 'ECONNRESET' });
    await upstream.last().closed;
  });

  it('outlives its access token, but not its grant', async () => {
    const [tokens, others] = [await connect(app), await connect(app, { member: OLU })];
    const stream = await listen(world.origin, bearer(tokens.access_token));
    const other = await listen(world.origin, bearer(others.access_token));
    ahead += 120_000;
    expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
    await command(world.admin, `/members/${OLU_ID}/revoke`);
    // Its token had expired too. That it is closed shows that both streams were checked.
    await expect.poll(other.ended, PATIENCE).toBe('cut');
    await isHeard(stream);
    expect(stream.ended()).toBeUndefined();
    await command(world.admin, `/members/${SAM_ID}/revoke`);
    await expect.poll(stream.ended, PATIENCE).toBe('cut');
  });
});

describe.skipIf(!redisPresent())('a stream at another replica', () => {
  it('is closed too', async () => {
    const redis: RedisServer = await startRedis();
    const upstream = await startStreams();
    const shared = {
      profile: 'A',
      environment: { COMMAND_SECRET, REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) },
    };
    const store = { kind: 'redis', url: { env: 'REDIS_URL' } };
    const overrides = { ...settings(upstream), store, secret: { env: 'COURSEGATE_SECRET' } };
    const world = await startWorld({ ...shared, overrides });
    const upstreams = Object.fromEntries(Object.entries(world.school.urls).map(([name, url]) => [name, { url }]));
    const replica = await startWorld({
      ...shared,
      overrides: { ...overrides, origin: world.origin, upstreams: { ...upstreams, ...overrides.upstreams } },
    });
    try {
      const app = await registerApp(world.origin);
      const tokens = await connect(app);
      const others = await connect(app, { member: OLU });
      const stream = await listen(replica.origin, bearer(tokens.access_token));
      const other = await listen(replica.origin, bearer(others.access_token));
      await command(world.admin, `/members/${SAM_ID}/revoke`);
      await expect.poll(stream.ended, PATIENCE).toBe('cut');
      upstream.tick();
      await expect.poll(other.heard, PATIENCE).toContain('tick');
      expect(other.ended()).toBeUndefined();
      other.leave();
    } finally {
      await replica.close();
      await world.close();
      await upstream.close();
      await redis.close();
    }
  });
});
