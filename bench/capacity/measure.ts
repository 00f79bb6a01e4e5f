import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { redisStore } from '../../src/storage/redis/redis-store.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import type { NewEntry, Store } from '../../src/storage/store.ts';
import { registerApp } from '../../test/support/app.ts';
import { connect } from '../../test/support/connection.ts';
import { type RedisServer, startRedis } from '../../test/support/redis.ts';
import { type Pattern, patternOf } from '../resource-server/stored-tokens.ts';
import { cpuMeter } from '../support/cpu.ts';
import { type Gate, startGate } from '../support/gate.ts';
import { type Cost, loadSlice } from '../support/load.ts';
import { type RefreshLane, refreshLanes, refreshOnce } from '../support/refreshing.ts';
import type { Run } from '../support/run.ts';
import { median } from '../support/statistics.ts';
import { syncTime } from '../support/sync-time.ts';
import { toolPath } from '../support/tools.ts';
import { type Measured, type Named, twin } from '../support/turns.ts';
import { saturate } from '../upstream/load/saturate.ts';
import { memoryPerStream } from '../upstream/memory.ts';
import { startUpstream, type Upstream } from '../upstream/upstream.ts';
import { type Operation, type Parts, RECORDS, type RecordKind, type StoreKind } from './model.ts';

/** Records of each kind that are stored to measure the bytes of one. */
const EACH = 20_000;
/** The kinds that do not expire. */
const LASTING: ReadonlySet<RecordKind> = new Set(['Client', 'RegistrationAccessToken', 'Member']);
const STREAMS = 500;
const LANES = 8;

interface Subject extends Named {
  readonly kind: StoreKind;
  readonly gate: Gate;
  readonly lanes: readonly RefreshLane[];
  readonly redis: RedisServer | undefined;
}

export async function measureParts(run: Run): Promise<Omit<Parts, 'conditions' | 'objections'>> {
  const upstream = await startUpstream(run.folder);
  const redis = await startRedis({ appendOnly: true });
  const subjects: Subject[] = [];
  try {
    const bytes = await measureBytes(run, redis);
    for (const [name, kind, twinOf] of [
      ['sqlite', 'sqlite'],
      [twin('sqlite'), 'sqlite', 'sqlite'],
      ['redis', 'redis'],
    ] as const) {
      subjects.push({ name, twinOf, ...(await startSubject(run, upstream, kind, redis)) });
    }
    const cpu = await measureCpu(run, subjects);
    const [embedded] = subjects;
    if (embedded === undefined) throw new Error('no gate was started');
    return {
      ...{ bytes, cpu, syncs: await measureSyncs(run, embedded), syncTime: syncTime(run.folder) },
      connection: await perConnection(embedded, '/api/bench/k1', 'HTTP/1.1 200'),
      stream: await perConnection(embedded, '/api/bench/stream', 'data: hello'),
    };
  } finally {
    await Promise.allSettled(subjects.map(({ gate }) => gate.stop()));
    await redis.close();
    await upstream.stop();
  }
}

async function startSubject(
  { folder }: Run,
  upstream: Upstream,
  kind: StoreKind,
  redis: RedisServer,
): Promise<Omit<Subject, keyof Named>> {
  const gate = await startGate({
    ...{ folder, processor: 0, store: kind === 'redis' ? { kind, url: redis.url } : undefined },
    upstreams: {
      bench: `http://127.0.0.1:${upstream.port}`,
      streams: `http://127.0.0.1:${upstream.streamPort}`,
    },
    routes: [
      '{ match: "GET /api/bench/stream", upstream: streams, scopes: [courses:read], anonymous: refuse }',
      '{ match: "GET /api/bench/**", upstream: bench, scopes: [courses:read], anonymous: refuse }',
    ],
    more: 'clients: { resourceServers: { backend: { secret: { env: BENCH_SECRET } } } }\n',
  });
  const lanes = await refreshLanes(gate.origin, LANES);
  return { kind, gate, lanes, redis: kind === 'redis' ? redis : undefined };
}

/** Bytes that one record of each kind adds to the file of the embedded store, and to the memory of Redis. */
async function measureBytes(run: Run, redis: RedisServer): Promise<Parts['bytes']> {
  const secret = randomBytes(32).toString('base64url');
  const pattern = await patternOf(run.folder, secret);
  const sizes = { sqlite: new Map<RecordKind, number>(), redis: new Map<RecordKind, number>() };
  const client = new Redis(redis.url.replace('unix://', ''));
  const used = async () => Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1]);
  for (const kind of RECORDS) {
    run.say(`${EACH} of ${kind}`);
    const file = join(run.folder, `${kind}.db`);
    await sqliteStore(file, Date.now).close();
    const empty = statSync(file).size;
    await fillWith(sealedStore(sqliteStore(file, Date.now), secret), pattern, kind, 1000);
    sizes.sqlite.set(kind, (statSync(file).size - empty) / EACH);
    const before = await used();
    const inner = redisStore({ url: redis.url, keyPrefix: kind }, Date.now);
    await fillWith(sealedStore(inner, secret), pattern, kind, 20);
    sizes.redis.set(kind, ((await used()) - before) / EACH);
    await client.flushall();
  }
  client.disconnect();
  return {
    sqlite: Object.fromEntries(sizes.sqlite) as Record<RecordKind, number>,
    redis: Object.fromEntries(sizes.redis) as Record<RecordKind, number>,
  };
}

async function fillWith(store: Store, pattern: Pattern, kind: RecordKind, batch: number): Promise<void> {
  const payloads: Record<RecordKind, string> = {
    Client: pattern.client,
    Member: pattern.member,
    Grant: pattern.grant,
    AccessToken: pattern.accessToken,
    RefreshToken: pattern.refreshToken,
    RegistrationAccessToken: pattern.registrationToken,
  };
  const expiresAt = Math.floor(Date.now() / 1000) + 86_400;
  const entry = (): NewEntry => {
    const id = crypto.randomUUID().repeat(2).slice(0, 43);
    const references = { member: `m-${id}`, client: `c-${id}`, grant: `g-${id}` };
    return {
      ...{ kind, id, payload: payloads[kind] },
      expiresAt: LASTING.has(kind) ? undefined : expiresAt,
      references: referencesOf(kind, references),
    };
  };
  for (let at = 0; at < EACH; at += batch) {
    await store.commit(Array.from({ length: batch }, () => ({ op: 'put', entry: entry() })));
  }
  await store.close();
}

/** The references that the gate stores with a record of this kind. */
function referencesOf(
  kind: RecordKind,
  { member, client, grant }: { readonly member: string; readonly client: string; readonly grant: string },
): NewEntry['references'] {
  if (kind === 'Client' || kind === 'Member') return {};
  if (kind === 'RegistrationAccessToken') return { client };
  return kind === 'Grant' ? { member, client } : { grant };
}

async function measureCpu(run: Run, subjects: readonly Subject[]): Promise<Parts['cpu']> {
  const lanes = (count: number) => Array.from({ length: count }, (_, at) => at);
  const at = (gate: Gate) => () => cpuMeter([gate.pid]);
  const operations: Readonly<Record<Operation, (subject: Subject, warming: boolean) => Promise<Cost>>> = {
    request: ({ gate }, warming) =>
      saturate({ ...gate, roots: [gate.pid] }, '/api/bench/k1', warming ? 3 : 1, run.folder, true),
    // With the first request of the new access token, whose check is not cached.
    refresh: ({ gate, lanes: chains }) => loadSlice(chains, (lane) => refreshAndUse(gate, lane), at(gate)),
    signIn: ({ gate, lanes: [lane] }) => loadSlice(lanes(2), async () => lane && connect(lane.app), at(gate)),
    introspection: ({ gate }) => loadSlice(lanes(LANES), () => introspect(gate), at(gate)),
  };
  const found = new Map<Operation, Measured<Cost & { readonly redis: number }>>();
  for (const [name, measure] of Object.entries(operations)) {
    const measured = await run.inTurns(name, subjects, async (subject, warming) => {
      const used = cpuMeter(subject.redis === undefined ? [] : [subject.redis.pid()]);
      const cost = await measure(subject, warming);
      return { ...cost, redis: used() / cost.operations };
    });
    found.set(name as Operation, measured);
  }
  const of = (kind: StoreKind) =>
    Object.fromEntries(
      [...found].map(([name, measured]) => {
        const costs = measured.get(kind) ?? [];
        return [name, { gate: median(costs.map(({ cpu }) => cpu)), redis: median(costs.map((one) => one.redis)) }];
      }),
    ) as Record<Operation, { gate: number; redis: number }>;
  return { sqlite: of('sqlite'), redis: of('redis') };
}

async function refreshAndUse(gate: Gate, lane: RefreshLane): Promise<void> {
  await refreshOnce(lane);
  const headers = { authorization: `Bearer ${lane.accessToken}` };
  const response = await fetch(`${gate.origin}/api/bench/k1`, { headers });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`the gate responded with ${response.status}`);
}

async function introspect(gate: Gate): Promise<void> {
  const [token = ''] = gate.tokens;
  const body = new URLSearchParams({ client_id: 'backend', client_secret: gate.secret, token });
  const response = await fetch(`${gate.origin}/api/oauth/introspect`, { method: 'POST', body });
  const { active } = (await response.json()) as { active?: boolean };
  if (active !== true) throw new Error(`introspection responded with ${response.status}, active: ${active}`);
}

/** Counts fsync and fdatasync of the gate with strace, one operation at a time. */
async function measureSyncs({ folder }: Run, { gate, lanes: [lane] }: Subject): Promise<Parts['syncs']> {
  if (lane === undefined) throw new Error('no app is connected');
  const app = await registerApp(gate.origin);
  return {
    refresh: await syncsOf(gate, folder, 20, () => refreshOnce(lane)),
    signIn: await syncsOf(gate, folder, 5, () => connect(app)),
  };
}

async function syncsOf(
  { pid }: Gate,
  folder: string,
  times: number,
  operation: () => Promise<unknown>,
): Promise<number> {
  const output = join(folder, 'strace');
  const tracer = spawn(toolPath('strace'), ['-f', '-e', 'trace=fsync,fdatasync', '-o', output, '-p', String(pid)], {
    stdio: 'ignore',
  });
  while (!readFileSync(`/proc/${pid}/status`, 'latin1').includes(`TracerPid:\t${tracer.pid}`)) await sleep(20);
  for (let at = 0; at < times; at += 1) await operation();
  const ended = once(tracer, 'exit');
  tracer.kill('SIGINT');
  await ended;
  const calls = readFileSync(output, 'latin1').match(/(fsync|fdatasync)\(/g)?.length ?? 0;
  return calls / times;
}

async function perConnection({ gate }: Subject, path: string, until: string): Promise<number> {
  const running = {
    ...{ port: gate.port, roots: [gate.pid], tokens: gate.tokens, stop: gate.stop },
    ...(gate.inspector === undefined ? {} : { inspector: gate.inspector }),
  };
  return (await memoryPerStream(running, path, STREAMS, until)).each;
}
