import { randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type School, startSchool } from '../../src/tools/demo/school.ts';
import { registerApp } from '../../test/support/app.ts';
import { connect } from '../../test/support/connection.ts';
import { redisPresent, startRedis } from '../../test/support/redis.ts';
import { freePort, type Process, startProcess } from '../support/processes.ts';
import { conditions, table } from '../support/report.ts';

/** The checkouts to compare: this one, and the one that BENCH_BASE names. */
const THIS = fileURLToPath(new URL('../..', import.meta.url));
const TREES: Readonly<Record<string, string>> = {
  ...(process.env.BENCH_BASE === undefined ? {} : { base: process.env.BENCH_BASE }),
  this: THIS,
};
const STORES = (process.env.BENCH_STORES ?? 'sqlite,redis').split(',');
const LANES = (process.env.BENCH_LANES ?? '1,8,64').split(',').map(Number);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
/** Milliseconds of a slice. */
const SLICE = 1000;
const MOST_LANES = Math.max(...LANES);

// Measures what a refresh at POST /token costs, over HTTP at a real gate: in turns at this checkout and at the one that BENCH_BASE
// names. BENCH_FOLDER is a folder on the disk to measure. Prints a table, and leaves RESULTS.md as it is.

interface Lane {
  readonly clientId: string;
  refreshToken: string;
}

interface Subject {
  readonly name: string;
  readonly origin: string;
  readonly gate: Process;
  readonly school: School;
  readonly lanes: readonly Lane[];
  readonly agent: Agent;
}

interface Slice {
  readonly perSecond: number;
  /** CPU time of the gate per refresh, in microseconds. */
  readonly cpu: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

async function subject(name: string, tree: string, folder: string, redis: string | undefined): Promise<Subject> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const origin = `http://localhost:${port}`;
  const data = mkdtempSync(join(folder, 'gate-'));
  const school = await startSchool({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => ({ issuer: origin, jwksUrl: `${origin}/.well-known/jwks.json` }),
  });
  const flags = (process.env.BENCH_NODE ?? '').split(' ').filter(Boolean);
  const gate = await startProcess(
    process.execPath,
    [...flags, join(tree, 'src/main.ts'), 'serve', '--config', join(tree, 'config/coursegate.yaml')],
    {
      environment: {
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        COURSEGATE_PROFILE: 'A',
        COURSEGATE__ORIGIN: origin,
        COURSEGATE_DATA: data,
        COURSEGATE__UPSTREAMS__SCHOOL__URL: school.urls.school,
        COURSEGATE__UPSTREAMS__PROGRESS__URL: school.urls.progress,
        COURSEGATE__UPSTREAMS__EVENTS__URL: school.urls.events,
        ...UNLIMITED,
        COURSEGATE__SECRET: '{ env: BENCH_SECRET }',
        BENCH_SECRET: randomBytes(32).toString('base64url'),
        COURSEGATE__STORE: JSON.stringify(
          redis === undefined
            ? { kind: 'sqlite', path: join(data, 'coursegate.db') }
            : { kind: 'redis', url: { env: 'REDIS_URL' }, keyPrefix: name },
        ),
        REDIS_URL: redis ?? '',
      },
      ready: /^coursegate ready/m,
      output: join(data, 'output.log'),
    },
  );
  const app = await registerApp(origin, { metadata: { id_token_signed_response_alg: 'ES256' } });
  const lanes: Lane[] = [];
  while (lanes.length < MOST_LANES) {
    const { refresh_token } = await connect(app, { parameters: { scope: 'openid courses:read' } });
    lanes.push({ clientId: app.client.client_id, refreshToken: String(refresh_token) });
  }
  return { name, origin, gate, school, lanes, agent: new Agent({ keepAlive: true }) };
}

const UNLIMITED = {
  COURSEGATE__LIMITS__ADDRESS: 'unlimited',
  COURSEGATE__LIMITS__MEMBER: 'unlimited',
  COURSEGATE__LIMITS__CLIENT: 'unlimited',
  COURSEGATE__LIMITS__ATTEMPTS: 'unlimited',
  COURSEGATE__LIMITS__OPEN: '{ address: 100000, member: 100000 }',
};

/** Refreshes once. Resolves when the answer has arrived. */
function refresh({ origin, agent }: Subject, lane: Lane): Promise<void> {
  const form = `grant_type=refresh_token&client_id=${lane.clientId}&refresh_token=${lane.refreshToken}&resource=${encodeURIComponent(origin)}`;
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}/api/oauth/token`, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': form.length },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode !== 200)
          return reject(new Error(`the gate responded with ${response.statusCode}: ${text}`));
        const body = JSON.parse(text) as { refresh_token: string; id_token?: string };
        if (body.id_token === undefined) return reject(new Error('the response has no ID token'));
        lane.refreshToken = body.refresh_token;
        resolve();
      });
    });
    sent.end(form);
  });
}

async function slice(one: Subject, lanes: number): Promise<Slice> {
  const [used, started] = [cpuOf(one.gate.pid), performance.now()];
  const took: number[] = [];
  await Promise.all(
    one.lanes.slice(0, lanes).map(async (lane) => {
      while (performance.now() - started < SLICE) {
        const at = performance.now();
        await refresh(one, lane);
        took.push(performance.now() - at);
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  took.sort((a, b) => a - b);
  return {
    perSecond: took.length / seconds,
    cpu: (cpuOf(one.gate.pid) - used) / took.length,
    p50: took[Math.floor(took.length * 0.5)] ?? Number.NaN,
    p99: took[Math.floor(took.length * 0.99)] ?? Number.NaN,
  };
}

/** CPU time of all threads of a process, in microseconds. */
function cpuOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ');
    return sum + Number(nanoseconds) / 1000;
  }, 0);
}

/** The median time of one fdatasync after a write of 16 KiB, in milliseconds. */
function syncTime(folder: string): number {
  const file = openSync(join(folder, 'sync'), 'w');
  const page = randomBytes(16 * 1024);
  const took: number[] = [];
  for (let at = 0; at < 200; at += 1) {
    writeSync(file, page, 0, page.length, (at % 64) * page.length);
    const started = performance.now();
    fdatasyncSync(file);
    took.push(performance.now() - started);
  }
  closeSync(file);
  return median(took);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Measures one store, and returns the rows of the table. */
async function measure(store: string, folder: string): Promise<(string | number)[][]> {
  const redis = store === 'redis' ? await startRedis({ appendOnly: true }) : undefined;
  const rows: (string | number)[][] = [];
  const subjects: Subject[] = [];
  try {
    for (const [name, tree] of Object.entries(TREES)) subjects.push(await subject(name, tree, folder, redis?.url));
    for (const lanes of LANES) {
      const sync = redis === undefined ? syncTime(folder).toFixed(2) : '';
      const measured = await inTurns(subjects, lanes);
      for (const [one, slices] of measured) {
        const of = (name: keyof Slice) => median(slices.map((each) => each[name]));
        const first = measured.get(subjects[0] ?? one) ?? [];
        const ratio = median(slices.map(({ cpu }, round) => cpu / (first[round]?.cpu ?? Number.NaN)));
        const rate = [Math.round(of('perSecond')), Math.round(of('cpu')), ratio.toFixed(2)];
        rows.push([store, one.name, lanes, ...rate, of('p50').toFixed(1), of('p99').toFixed(1), sync]);
        process.stderr.write(`${rows.at(-1)?.join('  ')}\n`);
      }
    }
    return rows;
  } finally {
    for (const one of subjects) {
      one.agent.destroy();
      await one.gate.stop();
      await one.school.close();
    }
    await redis?.close();
  }
}

async function inTurns(subjects: readonly Subject[], lanes: number): Promise<ReadonlyMap<Subject, readonly Slice[]>> {
  const measured = new Map<Subject, Slice[]>(subjects.map((one) => [one, []]));
  // The first two rounds are warm-up.
  for (let round = -2; round < ROUNDS; round += 1) {
    for (const one of round % 2 === 0 ? subjects : subjects.toReversed()) {
      const found = await slice(one, lanes);
      if (round >= 0) measured.get(one)?.push(found);
    }
  }
  return measured;
}

const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), 'coursegate-bench-'));
const at = conditions();
const rows: (string | number)[][] = [];
try {
  for (const store of STORES) {
    if (store !== 'redis' || redisPresent()) rows.push(...(await measure(store, folder)));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const HEADS = ['store', 'gate', 'in parallel', 'per second', 'CPU, µs', 'ratio', 'p50, ms', 'p99, ms', 'fdatasync, ms'];
process.stdout.write(`\n${at}\n\n${table(HEADS, rows)}\n`);
