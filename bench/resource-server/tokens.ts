import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cachedIntrospect } from '../../src/resource-server/cache.ts';
import { redisStore } from '../../src/storage/redis.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import { memoryStore, sqliteStore } from '../../src/storage/sqlite.ts';
import type { Mutation, Store } from '../../src/storage/store.ts';
import { type GateProcess, gateProcess } from '../../test/faults/gate-process.ts';
import { registerApp } from '../../test/support/app.ts';
import { type RedisServer, redisPresent, startRedis } from '../../test/support/redis.ts';
import { type Cost, cost, costOfLanes, median, processorTimeOf } from '../support/measure.ts';
import { conditions, report, table } from '../support/report.ts';
import { measureIdTokens } from './id-tokens.ts';
import { connectOnce, fill, type Pattern, readPattern, type Stored } from './stored-tokens.ts';
import { tokenCheck } from './token-check.ts';

/** Numbers of tokens in the store. Set BENCH_SIZES=1000,100000 for a short run. */
const SIZES = (process.env.BENCH_SIZES ?? '1000,100000,1000000').split(',').map(Number);
/** Set BENCH_STORES=sqlite to measure one store only, or BENCH_STORES=id-tokens for the algorithms of ID tokens. */
const PARTS = (process.env.BENCH_STORES ?? 'memory,sqlite,redis,id-tokens').split(',');
const STORES = (['memory', 'sqlite', 'redis'] as const).filter((kind) => PARTS.includes(kind));
const ROUNDS = 5;
const LANES = 8;
const SECRET = randomBytes(32).toString('base64url');

type Kind = 'memory' | 'sqlite' | 'redis';
type Measure = 'uncached' | 'cached' | 'stored' | 'issued' | 'checked';

interface Subject {
  readonly size: number;
  /** Redis must finish a commit within its deadline. */
  readonly batchSize: number;
  readonly gate: GateProcess;
  open(): Store;
  known: readonly Stored[];
  readonly costs: Record<Measure, Cost[]>;
  note: string;
}

const say = (line: string) => void process.stderr.write(`${line}\n`);
const folder = mkdtempSync(join(tmpdir(), 'coursegate-bench-'));

async function pattern(): Promise<Pattern> {
  const data = join(folder, 'pattern');
  mkdirSync(data);
  const gate = await gateProcess({ data, environment: secretInEnvironment() });
  await gate.start();
  const app = await registerApp(gate.origin);
  const tokens = await connectOnce(app);
  await gate.close();
  const store = sealedStore(sqliteStore(join(data, 'coursegate.db'), Date.now), SECRET);
  const read = await readPattern(store, app, tokens);
  await store.close();
  return read;
}

function secretInEnvironment(): Record<string, string> {
  return { COURSEGATE__SECRET: '{ env: BENCH_SECRET }', BENCH_SECRET: SECRET };
}

async function subject(kind: Kind, size: number, redis: RedisServer | undefined): Promise<Subject> {
  const data = join(folder, `${kind}-${size}`);
  mkdirSync(data);
  const config = {
    memory: { kind: 'memory' },
    sqlite: { kind: 'sqlite', path: join(data, 'coursegate.db') },
    redis: { kind: 'redis', url: { env: 'REDIS_URL' }, keyPrefix: `bench-${size}` },
  } as const;
  const inner = {
    memory: () => memoryStore(Date.now),
    sqlite: () => sqliteStore(config.sqlite.path, Date.now),
    redis: () => redisStore({ url: redis?.url ?? '', keyPrefix: config.redis.keyPrefix }, Date.now),
  };
  const environment = {
    ...secretInEnvironment(),
    COURSEGATE__STORE: JSON.stringify(config[kind]),
    REDIS_URL: redis?.url ?? '',
  };
  return {
    size,
    batchSize: kind === 'redis' ? 10 : 2000,
    gate: await gateProcess({ data, environment }),
    open: () => sealedStore(inner[kind](), SECRET),
    known: [],
    costs: { uncached: [], cached: [], stored: [], issued: [], checked: [] },
    note: '',
  };
}

const pick = <T>(items: readonly T[], index: number): T => items[(index * 7919) % items.length] as T;

/** The records that a refresh writes: a new pair of tokens, and the response for a repeated request. */
function rotation(from: Stored, payload: string): readonly Mutation[] {
  const expiresAt = Math.floor(Date.now() / 1000) + 600;
  const references = { grant: from.grantId, member: from.accountId, client: from.clientId };
  const put = (kind: string): Mutation => ({
    op: 'put',
    entry: { kind, id: randomBytes(32).toString('base64url'), payload, expiresAt, references },
  });
  return [put('AccessToken'), put('RefreshToken'), put('RefreshAnswer')];
}

async function measureInProcess(subjects: readonly Subject[], shape: Pattern): Promise<void> {
  const scopes = String(JSON.parse(shape.client).scope).split(' ');
  const opened = [];
  for (const one of subjects) {
    const store = one.open();
    const started = performance.now();
    one.known = await fill(store, shape, one.gate.origin, one.size, one.batchSize);
    say(`  ${one.size} tokens stored in ${((performance.now() - started) / 1000).toFixed(1)} s`);
    const check = await tokenCheck(store, one.gate.origin, scopes);
    opened.push({ one, store, check, cached: cachedIntrospect(check, Date.now).introspect });
  }
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { one, store, check, cached } of opened) {
      const sound = async (introspect: typeof check, token: string) => {
        if (!(await introspect(token)).active) throw new Error('a stored token is not active');
      };
      const few = one.known.slice(0, 200);
      const took: Partial<Record<Measure, Cost>> = {
        uncached: await cost(2000, (at) => sound(check, pick(one.known, at).accessToken)),
        cached: await cost(50_000, (at) => sound(cached, pick(few, at).accessToken)),
        stored: await cost(200, (at) => store.commit(rotation(pick(one.known, at), shape.refreshToken))),
      };
      // The first round is warm-up.
      if (round >= 0) for (const [name, value] of Object.entries(took)) one.costs[name as Measure].push(value);
    }
  }
  for (const { store } of opened) await store.close();
}

/** Measures a real gate in a separate process, over HTTP. The memory store is not measured: it would be empty after a start. */
async function measureOverHttp(subjects: readonly Subject[]): Promise<void> {
  const running = [];
  for (const one of subjects) {
    const started = performance.now();
    await one.gate.start();
    one.note = `${Math.round(performance.now() - started)} ms`;
    const lanes = one.known.slice(0, LANES).map((stored) => ({ stored, refreshToken: stored.refreshToken }));
    running.push({ one, lanes, time: processorTimeOf(one.gate.pid()) });
  }
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { one, lanes, time } of running) {
      const issue = async (lane: (typeof lanes)[number]) => {
        const form = {
          grant_type: 'refresh_token',
          client_id: lane.stored.clientId,
          refresh_token: lane.refreshToken,
          resource: one.gate.origin,
        };
        const answer = await fetch(`${one.gate.origin}/api/oauth/token`, {
          method: 'POST',
          body: new URLSearchParams(form),
        });
        if (answer.status !== 200) throw new Error(`the gate responded with ${answer.status}: ${await answer.text()}`);
        lane.refreshToken = ((await answer.json()) as { refresh_token: string }).refresh_token;
      };
      let next = round * 997;
      const check = async () => {
        next += 1;
        const token = pick(one.known, Math.abs(next)).accessToken;
        const answer = await fetch(`${one.gate.origin}/api/oauth/userinfo`, {
          headers: { authorization: `Bearer ${token}` },
        });
        await answer.arrayBuffer();
        if (answer.status !== 200) throw new Error(`the gate responded with ${answer.status}`);
      };
      const issued = await costOfLanes(lanes, 30, issue, time);
      const checked = await costOfLanes(lanes, 60, check, time);
      if (round < 0) continue;
      one.costs.issued.push(issued);
      one.costs.checked.push(checked);
    }
  }
}

async function measure(kind: Kind, shape: Pattern, redis: RedisServer | undefined): Promise<(string | number)[][]> {
  say(`${kind}:`);
  const subjects: Subject[] = [];
  for (const size of SIZES) subjects.push(await subject(kind, size, redis));
  try {
    await measureInProcess(subjects, shape);
    if (kind !== 'memory') await measureOverHttp(subjects);
    return subjects.map((one) => {
      const file =
        kind === 'sqlite' ? `${Math.round(statSync(join(one.gate.data, 'coursegate.db')).size / 1e6)} MB` : '';
      const cells = (['uncached', 'cached', 'stored', 'checked', 'issued'] as const).map((name) => {
        if (one.costs[name].length === 0) return '';
        const { perSecond, cpu } = median(one.costs[name]);
        return `${Math.round(perSecond).toLocaleString('en')} (${cpu < 10 ? cpu.toFixed(1) : Math.round(cpu)} µs)`;
      });
      return [kind, one.size.toLocaleString('en'), ...cells, one.note, file];
    });
  } finally {
    for (const { gate } of subjects) await gate.close();
  }
}

const HEADS = [
  'store',
  'tokens stored',
  'check, uncached',
  'check, cached',
  'rotation stored',
  'GET userinfo',
  'POST token',
  'gate starts in',
  'file',
];

const redis = STORES.includes('redis') && redisPresent() ? await startRedis({ appendOnly: true }) : undefined;
let shape: Pattern | undefined;
try {
  if (PARTS.includes('id-tokens')) await measureIdTokens();
  for (const kind of STORES.filter((one) => one !== 'redis' || redis !== undefined)) {
    shape ??= await pattern();
    const at = conditions();
    const rows = await measure(kind, shape, redis);
    report(
      `Tokens: ${kind}`,
      `${at}

\`npm run bench:tokens\`: operations per second, and in brackets the CPU time of one operation. Medians of ${ROUNDS} rounds in which
the sizes take turns. The store is encrypted as in production. The first three are measured in one process: the gate's token check
(token, grant, client and member) without a cache, the same with the cache, and the commit of a refresh. The next two are measured
over HTTP, ${LANES} in parallel, each with its own access token or chain of refresh tokens; CPU time is that of the gate only.

${table(HEADS, rows)}`,
    );
  }
} finally {
  await redis?.close();
  rmSync(folder, { recursive: true, force: true });
}
