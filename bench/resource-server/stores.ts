import { randomBytes } from 'node:crypto';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cachedIntrospect } from '../../src/resource-server/cache.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { redisStore } from '../../src/storage/redis/redis-store.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import { sqlDatabase } from '../../src/storage/sql/database.ts';
import { mysql } from '../../src/storage/sql/mysql.ts';
import { postgres } from '../../src/storage/sql/postgres.ts';
import { sqlStore } from '../../src/storage/sql/sql-store.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import type { Mutation, Store } from '../../src/storage/store.ts';
import { type GateProcess, gateProcess } from '../../test/faults/gate-process.ts';
import { ready, type TestServer } from '../../test/storage/sql/servers.ts';
import type { RedisServer } from '../../test/support/redis.ts';
import { cpuMeter } from '../support/cpu.ts';
import { type Cost, loadSlice } from '../support/load.ts';
import { table } from '../support/report.ts';
import type { Findings, Run } from '../support/run.ts';
import { estimate, shown } from '../support/statistics.ts';
import { type Named, twin } from '../support/turns.ts';
import { fill, type Pattern, patternOf, type Stored } from './stored-tokens.ts';
import { tokenCheck } from './token-check.ts';

const LANES = 8;
const SECRET = randomBytes(32).toString('base64url');

export type Kind = 'memory' | 'sqlite' | 'redis' | 'postgres' | 'mysql';

/** The servers that are measured. */
export interface Servers {
  readonly redis?: RedisServer;
  readonly postgres?: TestServer;
  readonly mysql?: TestServer;
}

const MEASURES = ['check, uncached', 'check, cached', 'rotation stored', 'GET userinfo', 'POST token'] as const;
type Measure = (typeof MEASURES)[number];

interface StoreCost extends Cost {
  /** CPU time per operation of Redis, in microseconds. */
  readonly redis: number;
}

interface Subject extends Named {
  readonly kind: Kind;
  readonly size: number;
  readonly gate: GateProcess;
  open(): Store;
  known: readonly Stored[];
  readonly costs: Map<Measure, readonly StoreCost[]>;
}

/** Measures stores of all kinds and sizes in turn, so that all of them have the same conditions. */
export async function measureStores(
  run: Run,
  kinds: readonly Kind[],
  sizes: readonly number[],
  servers: Servers,
): Promise<Findings> {
  const shape = await patternOf(run.folder, SECRET);
  const subjects: Subject[] = [];
  try {
    for (const kind of kinds) {
      for (const size of sizes)
        subjects.push(await subjectOf(run, `${kind}, ${size.toLocaleString('en')}`, kind, size, servers));
      const smallest = subjects.find((one) => one.kind === kind);
      if (smallest !== undefined) {
        const again = await subjectOf(run, twin(smallest.name), kind, smallest.size, servers);
        subjects.push({ ...again, twinOf: smallest.name });
      }
    }
    const { redis } = servers;
    await measureInProcess(run, subjects, shape, redis);
    await measureOverHttp(
      run,
      subjects.filter(({ kind }) => kind !== 'memory'),
      redis,
    );
    return { text: textOf(subjects), goals: {} };
  } finally {
    for (const { gate } of subjects) await gate.close();
  }
}

function secretInEnvironment(): Record<string, string> {
  return { COURSEGATE__SECRET: '{ env: BENCH_SECRET }', BENCH_SECRET: SECRET };
}

async function subjectOf(
  { folder }: Run,
  name: string,
  kind: Kind,
  size: number,
  { redis, ...databases }: Servers,
): Promise<Subject> {
  const slug = name.replace(/\W+/g, '-');
  const data = join(folder, slug);
  mkdirSync(data);
  const database = kind === 'postgres' || kind === 'mysql' ? databases[kind] : undefined;
  const url = (await database?.database(slug.toLowerCase().replaceAll('-', '_'))) ?? '';
  if (database !== undefined) await ready(database, url);
  const config = {
    memory: { kind: 'memory' },
    sqlite: { kind: 'sqlite', path: join(data, 'coursegate.db') },
    redis: { kind: 'redis', url: { env: 'REDIS_URL' }, keyPrefix: slug },
    postgres: { kind: 'postgres', url: { env: 'DATABASE_URL' } },
    mysql: { kind: 'mysql', url: { env: 'DATABASE_URL' } },
  } as const;
  const inner = {
    memory: () => memoryStore(Date.now),
    sqlite: () => sqliteStore(config.sqlite.path, Date.now),
    redis: () => redisStore({ url: redis?.url ?? '', keyPrefix: config.redis.keyPrefix }, Date.now),
    postgres: () => sqlStore(sqlDatabase(postgres, url, LANES), Date.now),
    mysql: () => sqlStore(sqlDatabase(mysql, url, LANES), Date.now),
  };
  const environment = {
    ...secretInEnvironment(),
    COURSEGATE__STORE: JSON.stringify(config[kind]),
    REDIS_URL: redis?.url ?? '',
    DATABASE_URL: url,
  };
  return {
    ...{ name, kind, size },
    gate: await gateProcess({ data, environment }),
    open: () => sealedStore(inner[kind](), SECRET),
    known: [],
    costs: new Map(),
  };
}

const pick = <T>(items: readonly T[], index: number): T => items[(index * 7919) % items.length] as T;

/** The records that a refresh writes: an access token, and the record of the refresh tokens. */
function rotation(from: Stored, payload: string): readonly Mutation[] {
  const expiresAt = Math.floor(Date.now() / 1000) + 600;
  const references = { grant: from.grantId, member: from.accountId, client: from.clientId };
  const put = (kind: string): Mutation => ({
    op: 'put',
    entry: { kind, id: randomBytes(32).toString('base64url'), payload, expiresAt, references },
  });
  return [put('AccessToken'), put('RefreshToken')];
}

/** Loads one subject for a second, and measures Redis beside what `meter` measures. */
async function storeSlice<Lane>(
  redis: RedisServer | undefined,
  lanes: readonly Lane[],
  operation: (lane: Lane) => Promise<unknown>,
  meter?: () => () => number,
): Promise<StoreCost> {
  const used = cpuMeter(redis === undefined ? [] : [redis.pid()]);
  const cost = await loadSlice(lanes, operation, meter);
  return { ...cost, redis: used() / cost.operations };
}

async function measureInProcess(
  run: Run,
  subjects: readonly Subject[],
  shape: Pattern,
  redis: RedisServer | undefined,
): Promise<void> {
  const scopes = String(JSON.parse(shape.client).scope).split(' ');
  const opened = [];
  for (const one of subjects) {
    const store = one.open();
    // A server must finish a commit within its deadline.
    one.known = await fill(
      store,
      shape,
      one.gate.origin,
      one.size,
      one.kind === 'memory' || one.kind === 'sqlite' ? 2000 : 10,
    );
    run.say(`  ${one.name}: filled`);
    const check = await tokenCheck(store, one.gate.origin, scopes);
    opened.push({ ...one, store, check, cached: cachedIntrospect(check, Date.now).introspect });
  }
  type Opened = (typeof opened)[number];
  let next = 0;
  const sound = async (introspect: Opened['check'], token: string) => {
    if (!(await introspect(token)).active) throw new Error('a stored token is not active');
  };
  const operations: Readonly<Partial<Record<Measure, (one: Opened) => Promise<unknown>>>> = {
    'check, uncached': ({ check, known }) => sound(check, pick(known, next++).accessToken),
    'check, cached': ({ cached, known }) => sound(cached, pick(known.slice(0, 200), next++).accessToken),
    'rotation stored': ({ store, known }) => store.commit(rotation(pick(known, next++), shape.refreshToken)),
  };
  for (const [measure, operation] of Object.entries(operations)) {
    const measured = await run.inTurns(measure, opened, (one) =>
      storeSlice(one.kind === 'redis' ? redis : undefined, [one], operation),
    );
    for (const one of subjects) one.costs.set(measure as Measure, measured.get(one.name) ?? []);
  }
  for (const { store } of opened) await store.close();
}

/** Measures a real gate in a separate process, over HTTP. The memory store is not measured: it would be empty after a start. */
async function measureOverHttp(run: Run, subjects: readonly Subject[], redis: RedisServer | undefined): Promise<void> {
  const running = [];
  for (const one of subjects) {
    await one.gate.start();
    const lanes = one.known.slice(0, LANES).map((stored) => ({ stored, refreshToken: stored.refreshToken }));
    running.push({ ...one, lanes });
  }
  type Running = (typeof running)[number];
  let next = 0;
  const operations = {
    'GET userinfo': async ({ gate, known }: Running) => {
      const answer = await fetch(`${gate.origin}/api/oauth/userinfo`, {
        headers: { authorization: `Bearer ${pick(known, next++).accessToken}` },
      });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`the gate responded with ${answer.status}`);
    },
    'POST token': async ({ gate }: Running, lane: Running['lanes'][number]) => {
      const form = {
        grant_type: 'refresh_token',
        client_id: lane.stored.clientId,
        refresh_token: lane.refreshToken,
        resource: gate.origin,
      };
      const answer = await fetch(`${gate.origin}/api/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
      if (answer.status !== 200) throw new Error(`the gate responded with ${answer.status}: ${await answer.text()}`);
      lane.refreshToken = ((await answer.json()) as { refresh_token: string }).refresh_token;
    },
  } as const satisfies Partial<Record<Measure, unknown>>;
  for (const [measure, operation] of Object.entries(operations)) {
    const measured = await run.inTurns(measure, running, (one) =>
      storeSlice(
        one.kind === 'redis' ? redis : undefined,
        one.lanes,
        (lane) => operation(one, lane),
        () => cpuMeter([one.gate.pid()]),
      ),
    );
    for (const one of subjects) one.costs.set(measure as Measure, measured.get(one.name) ?? []);
  }
}

function textOf(subjects: readonly Subject[]): string {
  const rows = subjects.map(({ name, kind, gate, costs }) => {
    const cells = MEASURES.flatMap((measure) => {
      const values = costs.get(measure) ?? [];
      const digits = measure === 'check, cached' ? 1 : 0;
      const cpu = shown(estimate(values.map((one) => one.cpu)), digits);
      const redis = kind === 'redis' ? ` + ${estimate(values.map((one) => one.redis)).median.toFixed(digits)}` : '';
      const perSecond = Math.round(estimate(values.map((one) => one.perSecond)).median).toLocaleString('en');
      return values.length === 0 ? ['', ''] : [`${cpu}${redis}`, perSecond];
    });
    const file = kind === 'sqlite' ? `${Math.round(statSync(join(gate.data, 'coursegate.db')).size / 1e6)} MB` : '';
    return [name, ...cells, file];
  });
  const heads = ['store, tokens', ...MEASURES.flatMap((measure) => [`${measure}, µs`, 'per second']), 'file'];
  return `\`npm run bench:tokens\`: CPU time of one operation, with that of Redis after the plus sign, and operations per second. Stores of all
kinds and sizes take turns. They are encrypted as in production; Redis appends to its file, and the databases wait for the disk at each commit; their CPU time is not measured. The first three are measured in one
process: the gate's token check (token, grant, client and member) without a cache, the same with the cache, and the commit of a
refresh. The next two are measured over HTTP, ${LANES} in parallel, each with its own access token or chain of refresh tokens; CPU time is
that of the gate.

${table(heads, rows)}`;
}
