import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { School } from '../../src/operator/demo/school.ts';
import { type App, postForm, registerApp } from '../support/app.ts';
import { approved, connect, read, refreshForm, type Tokens } from '../support/connection.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { type GateProcess, gateProcess, schoolOf } from './gate-process.ts';
import { patiently } from './patiently.ts';

const HOUR = 3_600_000;
const CLOCK = pathToFileURL(join(import.meta.dirname, '../support/shifted-clock.mjs')).href;

/** A gate whose clock is set ahead before it starts, by the time that its machine was down. */
function clockAhead() {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-clock-'));
  const file = join(folder, 'ahead');
  const set = (milliseconds: number) => writeFileSync(file, String(milliseconds));
  set(0);
  const environment = { NODE_OPTIONS: `--import ${CLOCK}`, TEST_CLOCK_AHEAD: file };
  return { set, environment, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

interface Stand {
  readonly gate: GateProcess;
  readonly setClock: (ahead: number) => void;
  /** The store's records of replay windows that ended while the process was alive; the text changes each time. */
  watched(): Promise<string>;
  close(): Promise<void>;
}

async function onSqlite(environment: Record<string, string>): Promise<Stand> {
  const clock = clockAhead();
  const gate = await gateProcess({ environment: { ...clock.environment, ...environment } });
  return {
    gate,
    setClock: clock.set,
    async watched() {
      const database = new DatabaseSync(join(gate.data, 'coursegate.db'), { readOnly: true });
      const rows = database.prepare("SELECT payload FROM entry WHERE kind = 'AnswerWatch'").all();
      database.close();
      return JSON.stringify(rows);
    },
    async close() {
      await gate.close();
      clock.remove();
    },
  };
}

const onThisRedis = (redis: RedisServer) => ({
  COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
  COURSEGATE__SECRET: '{ env: TEST_SECRET }',
  REDIS_URL: redis.url,
  TEST_SECRET: 'k'.repeat(40),
});

const watchedIn = async (admin: Redis) => {
  const keys = await admin.keys('*entry:AnswerWatch:*');
  return JSON.stringify(await Promise.all(keys.map((key) => admin.hget(key, 'payload'))));
};

async function onRedis(environment: Record<string, string>): Promise<Stand> {
  const redis = await startRedis({ appendOnly: 'always' });
  const admin = new Redis(redis.url);
  const clock = clockAhead();
  const gate = await gateProcess({ environment: { ...clock.environment, ...onThisRedis(redis), ...environment } });
  return {
    gate,
    setClock: clock.set,
    watched: () => watchedIn(admin),
    async close() {
      await gate.close();
      admin.disconnect();
      await redis.close();
      clock.remove();
    },
  };
}

type Form = Record<string, string | undefined>;
type Answer = Tokens & { error?: string; error_description?: string; expires_in: number };
const ask = (gate: GateProcess, form: Form) =>
  patiently(async () => read<Answer>(await postForm(`${gate.listens}/api/oauth/token`, form)));

/** The tests of one store follow one another, while those of the others run. */
const IN_TURN = { concurrent: false };

describe.concurrent.each([
  { store: 'SQLite', open: onSqlite, present: true },
  { store: 'Redis', open: onRedis, present: redisPresent() },
])('a gate on $store that is killed and stays down for long', ({ open, present }) => {
  describe.skipIf(!present)('with a replay window of 10 seconds', IN_TURN, () => {
    let stand: Stand;
    let app: App;
    let ahead = 0;
    beforeAll(async () => {
      stand = await open({});
      await stand.gate.start();
      app = await registerApp(stand.gate.origin);
    });
    afterAll(() => stand.close());

    const killed = async (forMilliseconds: number) => {
      await stand.gate.kill();
      ahead += forMilliseconds;
      stand.setClock(ahead);
      await stand.gate.start();
    };

    it('repeats the response to a refresh that was lost in the crash, an hour later', async () => {
      const first = (await connect(app)) as unknown as Tokens;
      const form = refreshForm(app, first.refresh_token);
      const answered = await ask(stand.gate, form);
      expect(answered.status).toBe(200);
      await killed(HOUR);
      const again = await ask(stand.gate, form);
      expect(again).toMatchObject({ status: 200, body: { refresh_token: answered.body.refresh_token, expires_in: 1 } });
      // The app continues; only after that does the old token count as stolen.
      const next = await ask(stand.gate, refreshForm(app, again.body.refresh_token));
      expect(next.status).toBe(200);
      const stolen = await ask(stand.gate, form);
      expect(stolen).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect((await ask(stand.gate, refreshForm(app, next.body.refresh_token))).status).toBe(400);
    });

    it('refuses a code that was redeemed before the crash and has long expired', async () => {
      const { form } = await approved(app);
      const answered = await ask(stand.gate, form);
      expect(answered.status).toBe(200);
      await killed(HOUR);
      expect((await ask(stand.gate, { ...form, code_verifier: 'x'.repeat(43) })).status).toBe(400);
      expect((await ask(stand.gate, refreshForm(app, answered.body.refresh_token))).status).toBe(200);
      expect(await ask(stand.gate, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    });

    it('repeats no response after more than a day, and ends the connection', async () => {
      const first = (await connect(app)) as unknown as Tokens;
      const form = refreshForm(app, first.refresh_token);
      const answered = await ask(stand.gate, form);
      await killed(25 * HOUR);
      expect(await ask(stand.gate, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect((await ask(stand.gate, refreshForm(app, answered.body.refresh_token))).status).toBe(400);
    });
  });

  describe.skipIf(!present)('with a replay window of one second', IN_TURN, () => {
    let stand: Stand;
    afterEach(() => stand.close());

    it('ends the connection for an old token whose window was over before the crash', async () => {
      stand = await open({ COURSEGATE__TOKENS__REPLAY_WINDOW: '1s' });
      await stand.gate.start();
      const app = await registerApp(stand.gate.origin);
      const first = (await connect(app)) as unknown as Tokens;
      const form = refreshForm(app, first.refresh_token);
      const answered = await ask(stand.gate, form);
      expect(answered.status).toBe(200);
      // The end of the refresh's replay window.
      await vi.waitUntil(async () => (await stand.watched()) !== '[]', { timeout: 20_000 });
      await stand.gate.kill();
      stand.setClock(HOUR);
      await stand.gate.start();
      expect(await ask(stand.gate, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect((await ask(stand.gate, refreshForm(app, answered.body.refresh_token))).status).toBe(400);
    });
  });
});

describe.skipIf(!redisPresent()).concurrent('two gates on one Redis, one of them killed', () => {
  let redis: RedisServer;
  let admin: Redis;
  let school: School;
  let gates: GateProcess[] = [];
  const clock = clockAhead();
  let app: App;

  beforeAll(async () => {
    redis = await startRedis({ appendOnly: 'always' });
    admin = new Redis(redis.url);
    const window = { COURSEGATE__TOKENS__REPLAY_WINDOW: '1s' };
    const first = await gateProcess({ environment: { ...onThisRedis(redis), ...window } });
    school = await schoolOf(first.origin);
    // The clock represents the time that a client waits before it retries.
    clock.set(60_000);
    const second = await gateProcess({
      origin: first.origin,
      school,
      environment: { ...clock.environment, ...onThisRedis(redis), ...window },
    });
    gates = [first, second];
    for (const gate of gates) await gate.start();
    app = await registerApp(first.origin);
  });
  afterAll(async () => {
    for (const gate of gates) await gate.close();
    await school.close();
    admin.disconnect();
    await redis.close();
    clock.remove();
  });

  it('repeat a lost response at the other gate, and end a connection whose window was over', async () => {
    const [first, second] = gates as [GateProcess, GateProcess];
    const [lost, old] = [(await connect(app)) as unknown as Tokens, (await connect(app)) as unknown as Tokens];
    const before = await watchedIn(admin);
    const oldForm = refreshForm(app, old.refresh_token);
    expect((await ask(first, oldForm)).status).toBe(200);
    await vi.waitUntil(async () => (await watchedIn(admin)) !== before, { timeout: 20_000 });
    const form = refreshForm(app, lost.refresh_token);
    const answered = await ask(first, form);
    expect(answered.status).toBe(200);
    await first.kill();
    const again = await ask(second, form);
    expect(again).toMatchObject({ status: 200, body: { refresh_token: answered.body.refresh_token } });
    expect((await ask(second, refreshForm(app, again.body.refresh_token))).status).toBe(200);
    expect(await ask(second, oldForm)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });
});
