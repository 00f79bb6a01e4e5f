import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type App, introspect, postForm, registerApp } from '../support/app.ts';
import { createBrowser, type Page } from '../support/browser.ts';
import { connect, type Tokens } from '../support/connection.ts';
import { OLU, reachConsent, SAM } from '../support/member.ts';
import { proofKey, signProof } from '../support/proof.ts';
import { redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** The quotas of docs/limits.md in bytes, as the store counts them: payload plus 1 KiB per entry. */
const PENDING = 32 * MIB;
const UNUSED_CLIENTS = 32 * MIB;
const UNUSED_DOCUMENTS = 8 * MIB;
const SIGNING_IN = 32 * MIB;
const AT_PROVIDER = 8 * MIB;
const PROOFS = 4 * MIB;
const ALL = PENDING + SIGNING_IN + AT_PROVIDER + UNUSED_CLIENTS + UNUSED_DOCUMENTS + PROOFS;
/** The quota of one network. */
const PENDING_OF_NETWORK = 4 * MIB;
/** How much more than that the entries may take on disk or in Redis memory. */
const FACTOR = 2;
/** The reserve, the free pages that stay in the file, and an empty store. */
const BESIDES = 10 * MIB;

const CONNECTIONS = 10;

interface Held {
  readonly entries: number;
  readonly bytes: number;
}

/** The use of each quota, and the total size of the store. */
interface Looked {
  readonly quotas: Readonly<Record<string, Held>>;
  readonly size: number;
}

interface Stand {
  readonly world: World;
  look(): Promise<Looked>;
  close(): Promise<void>;
}

async function eachOf(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

const OVERRIDES = {
  listen: { trustedProxies: ['loopback'] },
  clients: { registration: { perAddressPerMinute: 1_000_000, perDay: 1_000_000 } },
};
/** A client address, spread over this many networks. */
const from = (at: number, networks: number) => ({ 'x-forwarded-for': `198.51.${at % networks}.7` });

async function sqliteStand(clock: () => number): Promise<Stand> {
  const world = await startWorld({ profile: 'A', clock, overrides: OVERRIDES });
  const path = join(world.data, 'coursegate.db');
  return {
    world,
    async look() {
      const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
      const rows = database
        .prepare(
          'SELECT quota, count(*) AS entries, sum(octet_length(payload) + 1024) AS bytes FROM entry WHERE quota IS NOT NULL GROUP BY quota',
        )
        .all();
      database.close();
      const quotas = Object.fromEntries(
        rows.map(({ quota, entries, bytes }) => [quota, { entries: Number(entries), bytes: Number(bytes) }]),
      );
      return { quotas, size: statSync(path).size };
    },
    close: () => world.close(),
  };
}

async function redisStand(clock: () => number): Promise<Stand> {
  const redis = await startRedis();
  const client = new Redis(redis.url);
  const world = await startWorld({
    profile: 'A',
    clock,
    environment: { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) },
    overrides: {
      ...OVERRIDES,
      store: { kind: 'redis', url: { env: 'REDIS_URL' } },
      secret: { env: 'COURSEGATE_SECRET' },
    },
  });
  return {
    world,
    async look() {
      const quotas: Record<string, { entries: number; bytes: number }> = {};
      for (const key of await client.keys('*:charge:*')) {
        const [quota = '', counted] = await client.hmget(key, 'quota', 'bytes');
        const payload = await client.hget(key.replace(':charge:', ':entry:'), 'payload');
        // Redis expires entries by its own, running clock; they count until they are swept.
        if (payload !== null) expect(payload.length + 1024).toBe(Number(counted));
        const held = quotas[quota ?? ''] ?? { entries: 0, bytes: 0 };
        quotas[quota ?? ''] = { entries: held.entries + 1, bytes: held.bytes + Number(counted) };
      }
      const used = /^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1];
      return { quotas, size: Number(used) };
    },
    async close() {
      await world.close();
      client.disconnect();
      await redis.close();
    },
  };
}

const STANDS = [
  { name: 'SQLite', open: sqliteStand, skipped: false },
  { name: 'Redis', open: redisStand, skipped: !redisPresent() },
] as const;

describe.each(STANDS.filter(({ skipped }) => !skipped))('strangers who attack a gate on $name', ({ open, name }) => {
  let stand: Stand | undefined;
  afterEach(async () => {
    await stand?.close();
    stand = undefined;
  });

  const parameters = (app: App, state: string) => ({
    response_type: 'code',
    client_id: app.client.client_id,
    redirect_uri: app.redirectUri,
    scope: 'openid courses:read',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    resource: app.resource,
    state,
  });
  /** As large as a request may be. */
  const large = (app: App) => ({
    ...parameters(app, 's'.repeat(2048)),
    nonce: 'n'.repeat(1024),
    login_hint: 'l'.repeat(512),
    ui_locales: 'u'.repeat(512),
    claims_locales: 'c'.repeat(512),
    acr_values: 'a'.repeat(512),
  });
  /** Retries if the store of a busy machine did not respond in time, as attackers would. */
  const insist = async (ask: () => Promise<Response>) => {
    for (let left = 30; ; left -= 1) {
      const answer = await ask();
      if (answer.status !== 503 || left === 0) return answer;
      await answer.arrayBuffer();
    }
  };
  const push = async (app: App, form: Record<string, string>, headers: Record<string, string>) => {
    const answer = await insist(() => postForm(app.server.pushed_authorization_request_endpoint, form, headers));
    const body = (await answer.json()) as { request_uri?: string };
    return { status: answer.status, requestUri: String(body.request_uri) };
  };
  const openRequest = (app: App, requestUri: string) =>
    `${app.server.authorization_endpoint}?${new URLSearchParams({ client_id: app.client.client_id, request_uri: requestUri })}`;

  it('use at most what docs/limits.md says, evict no one else, and leave nothing after expiry', {
    timeout: 900_000,
  }, async () => {
    // The gate's clock is stopped, so that nothing expires on a slow machine; the OAuth library uses the real time.
    const time = { now: Date.now() };
    stand = await open(() => time.now);
    const { world } = stand;
    const app = await registerApp(world.origin);
    const tokens = (await connect(app)) as unknown as Tokens;
    const empty = await stand.look();

    // Members have begun before the attack: one is on the sign-in page, one on the consent page.
    const begin = async () => openRequest(app, (await push(app, parameters(app, 'ours'), {})).requestUri);
    const waiting = createBrowser();
    const signIn = await waiting.open(await begin());
    const consent = await reachConsent(await begin());

    // One network and one app can use only their own quota.
    const longest = { redirectUri: 'https://app.example/'.padEnd(2000, 'r') };
    const own = await registerApp(world.origin, longest);
    await eachOf(330, async (at) => {
      const { status } = await push(own, large(own), from(1, 250));
      expect([at, status]).toEqual([at, 201]);
    });
    const alone = (await stand.look()).quotas.pending?.bytes ?? 0;
    expect(alone).toBeGreaterThan(PENDING_OF_NETWORK * 0.9);
    expect(alone).toBeLessThanOrEqual(PENDING_OF_NETWORK + 64 * KIB);

    // Many networks, each with its own apps: pushed requests, requests opened in a browser, registrations, proofs.
    const apps = await Promise.all(Array.from({ length: 4 }, () => registerApp(world.origin, longest)));
    await eachOf(2300, async (at) => {
      const attacker = apps[at % apps.length] as App;
      const { status } = await push(attacker, large(attacker), from(at, 25));
      expect([at, status]).toEqual([at, 201]);
    });
    const opened = `${app.server.authorization_endpoint}?`;
    await eachOf(150, async (at) => {
      const url = opened + new URLSearchParams(large(apps[at % apps.length] as App));
      const answer = await insist(() => fetch(url, { redirect: 'manual', headers: from(at, 25) }));
      await answer.arrayBuffer();
      expect([at, answer.status]).toEqual([at, 303]);
    });
    const redirects = Array.from({ length: 7 }, (_, at) => `https://app.example/${at}/`.padEnd(2000, 'r'));
    await eachOf(1620, async (at) => {
      const headers = { 'content-type': 'application/json', ...from(at, 25) };
      const body = JSON.stringify({ redirect_uris: redirects, client_name: `App ${at}` });
      const answer = await insist(() => fetch(`${world.origin}/api/oauth/register`, { method: 'POST', headers, body }));
      await answer.arrayBuffer();
      expect([at, answer.status]).toEqual([at, 201]);
    });
    const key = await proofKey();
    const htu = String(app.server.pushed_authorization_request_endpoint);
    const answers: Record<number, number> = {};
    await eachOf(550, async (at) => {
      const proof = await signProof(key, { htm: 'POST', htu, iat: Math.floor(Date.now() / 1000) });
      const { status } = await push(own, parameters(own, `p${at}`), { ...from(1, 250), dpop: proof });
      answers[status] = (answers[status] ?? 0) + 1;
    });
    // 512 KiB per network are about 450 proofs. Proofs are never evicted, so further ones are refused.
    expect(Object.keys(answers)).toEqual(['201', '429']);

    const { quotas, size } = await stand.look();
    process.stdout.write(`${name}: ${JSON.stringify({ quotas, size, empty: empty.size, alone })}\n`);
    expect(quotas.pending?.bytes).toBeGreaterThan(PENDING * 0.95);
    expect(quotas.pending?.bytes).toBeLessThanOrEqual(PENDING);
    expect(quotas['unused-clients']?.bytes).toBeGreaterThan(UNUSED_CLIENTS * 0.95);
    expect(quotas['unused-clients']?.bytes).toBeLessThanOrEqual(UNUSED_CLIENTS);
    expect(quotas.proofs?.bytes).toBeLessThanOrEqual(512 * KIB);
    const held = Object.values(quotas).reduce((sum, { bytes }) => sum + bytes, 0);
    const entries = Object.values(quotas).reduce((sum, one) => sum + one.entries, 0);
    expect(held).toBeLessThanOrEqual(ALL + MIB);
    expect(entries).toBeLessThanOrEqual(ALL / KIB);
    expect(size - empty.size).toBeLessThanOrEqual(FACTOR * held + (name === 'SQLite' ? BESIDES : 0));
    expect(FACTOR * ALL).toBe(232 * MIB);

    // Other sign-ins are not lost, and connections still work.
    const signedIn = await waiting.submit(signIn, { login: SAM.login, password: SAM.password });
    for (const { browser, page } of [consent, { browser: waiting, page: signedIn }]) {
      const answers = { decision: 'approve', scope: ['courses:read'] };
      const end = await browser.submit(page, answers, (location) => location.startsWith(world.origin));
      expect(end.location).toContain('code=');
    }
    expect((await introspect(app, tokens.access_token)).active).toBe(true);

    // Pushed requests expire within two minutes and everything within a day, which also frees the disk.
    time.now += 25 * 3600_000;
    await world.restart();
    await vi.waitFor(
      async () => {
        const after = await (stand as Stand).look();
        expect(after.quotas).toEqual({});
        expect(after.size).toBeLessThan(empty.size + BESIDES);
      },
      { timeout: 60_000, interval: 500 },
    );
  });

  it.each([
    ['one /48', (at: number) => `2001:db8:7:${at.toString(16)}::1`],
    ['many /24s', (at: number) => `10.${at >> 8}.${at & 255}.9`],
  ])(
    'cannot evict the sign-ins of members who are at the sign-in page, with smaller requests from %s',
    {
      timeout: 600_000,
    },
    async (networks, addressOf) => {
      const time = { now: Date.now() };
      stand = await open(() => time.now);
      const app = await registerApp(stand.world.origin);
      const authorize = (fields: Record<string, string>) =>
        `${app.server.authorization_endpoint}?${new URLSearchParams(fields)}`;
      const members = [SAM, OLU, SAM].map((member) => ({ member, browser: createBrowser() }));
      const pages = await Promise.all(members.map(({ browser }) => browser.open(authorize(large(app)))));
      const pushed = await push(app, large(app), {});

      // More than one of these networks may hold, or all together, each smaller than a member's.
      const apps = await Promise.all(Array.from({ length: 3 }, () => registerApp(new URL(app.server.issuer).origin)));
      const smaller = apps.map((one) => authorize({ ...large(one), state: 's'.repeat(2000) }));
      await eachOf(networks === 'one /48' ? 1200 : 3900, async (at) => {
        const headers = { 'x-forwarded-for': addressOf(at) };
        const answer = await insist(() => fetch(smaller[at % 3] as string, { redirect: 'manual', headers }));
        await answer.arrayBuffer();
        expect([at, answer.status]).toEqual([at, 303]);
      });
      const { quotas } = await stand.look();
      process.stdout.write(`${name}, ${networks}: ${JSON.stringify(quotas)}\n`);
      const most = networks === 'one /48' ? 2 * PENDING_OF_NETWORK + MIB : PENDING;
      expect(quotas.pending?.bytes).toBeLessThanOrEqual(most);
      expect(quotas.pending?.bytes).toBeGreaterThan(0.8 * most);

      for (const [at, { member, browser }] of members.entries()) {
        const consent = await browser.submit(pages[at] as Page, { login: member.login, password: member.password });
        const answers = { decision: 'approve', scope: ['courses:read'] };
        const end = await browser.submit(consent, answers, (location) =>
          location.startsWith(stand?.world.origin ?? ''),
        );
        expect([at, end.location]).toEqual([at, expect.stringContaining('code=')]);
      }
      // A request that no browser has followed up is safe from one /48, too.
      if (networks === 'one /48') {
        const { page } = await reachConsent(openRequest(app, pushed.requestUri));
        expect(page.text).toContain('<main id="consent"');
      }
    },
  );
});
