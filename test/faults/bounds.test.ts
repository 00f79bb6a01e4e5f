import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adapterFactory } from '../../src/authorization-server/adapter.ts';
import { NO_OUTBOX } from '../../src/events/outbox.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import { secretsBeside } from '../../src/storage/sqlite/secret.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import { type App, registerApp } from '../support/app.ts';
import { connect, refreshForm, token } from '../support/connection.ts';
import { TEST_TOKENS } from '../support/refresh-tokens.ts';
import { startWorld, type World } from '../support/world.ts';

/** Short by default; `npm run test:faults` makes a hundred thousand of each. */
const WHOLE = Number(process.env.COURSEGATE_FAULT_ROUNDS ?? 0) >= 100;
/** How many of each kind are made over HTTP, as members and apps do. Fewer than fit a quota. */
const OVER_HTTP = WHOLE ? 4000 : 1500;
const CONNECTIONS = 50;
/** The rest is written through the adapter, which the HTTP requests use as well. */
const BY_ADAPTER = WHOLE ? 96_000 : 4000;
const BATCHES = 5;

/** The average number of bytes that one more may leave in memory. An entry of the store has some thousand. */
const BYTES_EACH = 100;
/** A constant allowance for compiled code, and for caches that fill up to their limit. */
const BYTES_ONCE = 4 * 1024 * 1024;
/** Growth of the process, which contains the gate, its clients, the test runner, and the garbage of all of them. */
const RESIDENT = 300 * 1024 * 1024;

const HOUR = 3600_000;

/** Bytes of memory in use. */
function held(): number {
  setFlagsFromString('--expose-gc');
  for (const _ of [1, 2]) (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Does the work in batches. Returns the bytes that each batch left behind, except the first, which warms up. */
async function leftBehind(count: number, work: (at: number) => Promise<void>): Promise<number[]> {
  const size = Math.floor(count / BATCHES);
  const after: number[] = [];
  for (let batch = 0; batch < BATCHES; batch += 1) {
    let next = batch * size;
    const end = next + size;
    const lane = async () => {
      while (next < end) await work(next++);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, lane));
    after.push(held());
  }
  return after.slice(1).map((bytes, at) => bytes - (after[at] ?? 0));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe('abandoned registrations and sign-ins', () => {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'coursegate-bounds-'));
  const path = join(folder, 'coursegate.db');
  const time = { offset: 0 };
  const clock = () => Date.now() + time.offset;
  let world: World;
  let app: App;
  beforeAll(async () => {
    world = await startWorld({
      profile: 'A',
      clock,
      data: folder,
      overrides: {
        listen: { trustedProxies: ['loopback'] },
        clients: { registration: { perAddressPerMinute: 1_000_000, perDay: 1_000_000 } },
      },
    });
    app = await registerApp(world.origin);
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const stored = (kind: string): number => {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
    try {
      return Number(database.prepare('SELECT count(*) AS count FROM entry WHERE kind = ?').get(kind)?.count);
    } finally {
      database.close();
    }
  };
  /** One of a thousand addresses, so that no rate limit is reached and none is evicted. */
  const from = (at: number) => ({ 'x-forwarded-for': `203.0.${Math.abs(at) % 4}.${Math.abs(at) % 250}` });

  const registration = async (at: number): Promise<void> => {
    const answer = await fetch(`${world.origin}/api/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...from(at) },
      body: JSON.stringify({ redirect_uris: [`https://app${at}.example/callback`], client_name: `App ${at}` }),
    });
    const text = await answer.text();
    if (answer.status !== 201) throw new Error(`${answer.status}: ${text}`);
  };
  const signIn = async (at: number): Promise<void> => {
    const url = new URL(String(app.server.authorization_endpoint));
    const parameters = {
      response_type: 'code',
      client_id: app.client.client_id,
      redirect_uri: app.redirectUri,
      scope: 'openid courses:read',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
      state: `state-${at}`,
      resource: app.resource,
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, String(value));
    const answer = await fetch(url, { redirect: 'manual', headers: from(at) });
    await answer.arrayBuffer();
    if (answer.status !== 303) throw new Error(`${answer.status}`);
    if (!answer.headers.get('location')?.includes('/oauth/interaction/')) throw new Error('no sign-in was begun');
  };

  /** The same through the adapter: the writes of a registration and of a sign-in. */
  const byAdapter = async (): Promise<readonly number[]> => {
    const store = sealedStore(sqliteStore(path, clock), secretsBeside(path));
    const adapter = adapterFactory({
      store,
      clock,
      onRevoked() {},
      unusedLifetime: 86_400,
      redirects: { schemes: [], allow: [], deny: [] },
      outbox: NO_OUTBOX,
      replayWindow: 10,
      refreshTokens: TEST_TOKENS,
    });
    const [clients, registrationTokens, interactions] = [
      adapter('Client'),
      adapter('RegistrationAccessToken'),
      adapter('Interaction'),
    ];
    try {
      return await leftBehind(BY_ADAPTER, async (at) => {
        const clientId = `client-${at}`;
        const metadata = { client_id: clientId, client_name: `App ${at}`, redirect_uris: ['https://app.example/cb'] };
        await clients.upsert(clientId, metadata, 0);
        await registrationTokens.upsert(`token-${at}`, { jti: `token-${at}`, clientId } as never, undefined as never);
        await interactions.upsert(`interaction-${at}`, { params: metadata, jti: `interaction-${at}` } as never, 900);
      });
    } finally {
      await store.close();
    }
  };

  it(`do not grow memory after ${OVER_HTTP + BY_ADAPTER} of each, expire on time, and leave connections in use intact`, {
    timeout: WHOLE ? 3600_000 : 240_000,
  }, async () => {
    const tokens = await connect(app);
    // Code that is loaded and compiled at first does not count.
    await leftBehind(OVER_HTTP / 10, (at) => registration(-at));
    await leftBehind(OVER_HTTP / 10, (at) => signIn(-at));
    const resident = process.memoryUsage.rss();
    const started = performance.now();
    const growth = {
      registrations: await leftBehind(OVER_HTTP, registration),
      signIns: await leftBehind(OVER_HTTP, signIn),
      byAdapter: [] as readonly number[],
    };
    const seconds = (performance.now() - started) / 1000;
    await world.whileStopped(async () => {
      growth.byAdapter = await byAdapter();
    });
    const grown = process.memoryUsage.rss() - resident;
    const each = Object.fromEntries(
      Object.entries(growth).map(([name, batches]) => {
        const count = (name === 'byAdapter' ? BY_ADAPTER : OVER_HTTP) * (1 - 1 / BATCHES);
        return [name, sum(batches) / count];
      }),
    );
    process.stdout.write(
      `${OVER_HTTP} over HTTP and ${BY_ADAPTER} by the adapter: bytes left by each ${JSON.stringify(each)} of ${JSON.stringify(growth)}, ` +
        `resident ${Math.round(grown / 1e6)} MB more, ${Math.round(seconds)} s over HTTP\n`,
    );
    for (const [name, batches] of Object.entries(growth)) {
      const count = name === 'byAdapter' ? BY_ADAPTER : OVER_HTTP;
      expect(sum(batches), name).toBeLessThan(count * BYTES_EACH + BYTES_ONCE);
    }
    expect(grown).toBeLessThan(RESIDENT);

    const all = 1.1 * OVER_HTTP + BY_ADAPTER;
    const before = { Client: stored('Client'), RegistrationAccessToken: stored('RegistrationAccessToken') };
    expect(before).toEqual({ Client: all + 1, RegistrationAccessToken: all + 1 });
    expect(stored('Interaction')).toBe(all);

    // Sign-ins expire after 15 minutes, apps after a day. The gate sweeps at start and every minute.
    time.offset += HOUR;
    await world.restart();
    await expect.poll(() => stored('Interaction'), { timeout: 120_000, interval: 200 }).toBe(0);
    expect(stored('Client')).toBe(all + 1);
    time.offset += 24 * HOUR;
    await world.restart();
    await expect.poll(() => stored('Client'), { timeout: 120_000, interval: 200 }).toBe(1);
    await expect.poll(() => stored('RegistrationAccessToken'), { timeout: 120_000, interval: 200 }).toBe(1);
    expect((await token(app, refreshForm(app, tokens.refresh_token))).status).toBe(200);
  });
});
