import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { startSchoolWithEcho } from '../../test/support/echo-socket.ts';
import { template } from '../../test/support/schools.ts';
import { BENCHES } from '../benches.ts';
import { cpuMeter } from '../support/cpu.ts';
import { accessTokens, THIS_TREE } from '../support/gate.ts';
import { collectGarbage } from '../support/inspector.ts';
import { loadSlice } from '../support/load.ts';
import { freePort, type Process, startProcess } from '../support/processes.ts';
import { table } from '../support/report.ts';
import { bench, type Findings, OPTIONS, type Run } from '../support/run.ts';
import { estimate, median, ratio, shown } from '../support/statistics.ts';
import { type Named, twin } from '../support/turns.ts';

const MANY = 1000;
const { values: options } = parseArgs({
  options: {
    ...OPTIONS,
    /** Schools beside the one. Fewer than a thousand are for a quick run, which is not published. */
    schools: { type: 'string', default: String(MANY) },
  },
});

/** Starts of each size for memory and time until ready. */
const STARTS = 3;
/** A process has settled when it uses less than this share of a CPU, three looks in a row. Seconds. */
const QUIET = 0.05;
const LOOK = 2;
const PATIENCE = 900;
const LANES = Array.from({ length: 8 }, (_, lane) => lane);

const ONE = 'one school alone';
const OF_MANY = 'one of many schools';

type Settings = Readonly<Record<string, unknown>>;

/** A process of this checkout. Its first school is at an address that leads here, the others at names that nobody asks for. */
interface Served {
  readonly origin: string;
  readonly admin: string;
  readonly process: Process;
  readonly inspector: number;
  /** Milliseconds from the spawn to the line "coursegate ready". */
  readonly ready: number;
}

/** Starts a process with that many schools, or, with `alone`, with an ordinary configuration of one school. */
async function serve(folder: string, shared: Settings, count: number | 'alone'): Promise<Served> {
  const [port, adminPort, inspector] = [await freePort(), await freePort(), await freePort()];
  const home = mkdtempSync(join(folder, 'schools-'));
  const write = (file: string, settings: Settings) => writeFileSync(join(home, file), JSON.stringify(settings));
  const origin = `http://localhost:${port}`;
  const school = (index: number) => ({
    profile: 'A',
    origin: index === 0 ? origin : `https://s${index}.example`,
    name: `School ${index}`,
  });
  const ofProcess = {
    version: 1,
    listen: { port, admin: { port: adminPort } },
    store: { kind: 'sqlite', path: './gate.db' },
    reload: { watch: false },
  };
  if (count === 'alone') write('main.yaml', { ...shared, ...school(0), ...ofProcess });
  else {
    mkdirSync(join(home, 'schools'));
    write('template.yaml', shared);
    for (let index = 0; index < count; index += 1)
      write(`schools/s${index}.yaml`, { extends: '../template.yaml', ...school(index) });
    write('main.yaml', { ...ofProcess, schools: './schools/*.yaml' });
  }
  const began = performance.now();
  const program = [`--inspect-port=${inspector}`, join(THIS_TREE, 'src/main.ts')];
  const started = await startProcess(process.execPath, [...program, 'serve', '--config', join(home, 'main.yaml')], {
    ready: /coursegate ready/,
    output: join(home, 'output.log'),
  });
  const ready = performance.now() - began;
  return { origin, admin: `http://127.0.0.1:${adminPort}`, process: started, inspector, ready };
}

/** Waits until all files have been checked, which a process does in the background. */
async function settled({ process: { pid } }: Served): Promise<void> {
  let quiet = 0;
  for (const deadline = Date.now() + PATIENCE * 1000; quiet < 3; ) {
    if (Date.now() > deadline) throw new Error(`still busy ${PATIENCE} s after the start`);
    const used = cpuMeter([pid]);
    await new Promise((resolve) => setTimeout(resolve, LOOK * 1000));
    quiet = used() / 1e6 < QUIET * LOOK ? quiet + 1 : 0;
  }
}

/** KB (of 1,000 bytes) after a forced collection. */
async function memoryAtRest(served: Served): Promise<{ readonly resident: number; readonly heap: number }> {
  await settled(served);
  await collectGarbage(served.process.pid, served.inspector);
  await settled(served);
  const text = await (await fetch(`${served.admin}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]) / 1000;
  return { resident: value('process_resident_memory_bytes'), heap: value('nodejs_heap_size_used_bytes') };
}

/** Starts one school and many in turn. The figures of a start are compared with those of its turn. */
async function starts(run: Run, shared: Settings, many: number) {
  const each: { readonly resident: number; readonly heap: number; readonly ready: number }[] = [];
  for (let turn = 0; turn < STARTS; turn += 1) {
    run.say(`start ${turn + 1} of ${STARTS}`);
    await run.look();
    const measured = new Map<number, { resident: number; heap: number; ready: number }>();
    for (const count of turn % 2 === 0 ? [1, many] : [many, 1]) {
      const served = await serve(run.folder, shared, count);
      try {
        measured.set(count, { ...(await memoryAtRest(served)), ready: served.ready / 1000 });
      } finally {
        await served.process.stop();
      }
    }
    const [one, all] = [measured.get(1), measured.get(many)];
    if (one === undefined || all === undefined) throw new Error('a start is missing');
    const beyond = (what: 'resident' | 'heap') => (all[what] - one[what]) / (many - 1);
    each.push({ resident: beyond('resident'), heap: beyond('heap'), ready: all.ready });
  }
  const of = (what: 'resident' | 'heap' | 'ready') => median(each.map((one) => one[what]));
  return { resident: of('resident'), heap: of('heap'), ready: of('ready') };
}

interface Subject extends Named {
  readonly served: Served;
  readonly pool: Pool;
  readonly tokens: readonly string[];
}

/** CPU time of a request that the route table passes on, with a token. */
async function requests(run: Run, shared: Settings, many: number) {
  const subjects: Subject[] = [];
  const add = async (named: Named, count: number | 'alone'): Promise<void> => {
    const served = await serve(run.folder, shared, count);
    const pool = new Pool(served.origin, { connections: LANES.length, connect: { family: 4 } });
    subjects.push({ ...named, served, pool, tokens: [] });
  };
  let sent = 0;
  const ask = async ({ name, pool, tokens }: Subject): Promise<void> => {
    sent += 1;
    const headers = { authorization: `Bearer ${tokens[sent % tokens.length]}` };
    const { statusCode, body } = await pool.request({ method: 'GET', path: '/api/v1/whoami', headers });
    await body.dump();
    if (statusCode !== 200) throw new Error(`${name} responded with ${statusCode}`);
  };
  try {
    await add({ name: ONE }, 'alone');
    await add({ name: twin(ONE), twinOf: ONE }, 'alone');
    await add({ name: OF_MANY }, many);
    for (const { served } of subjects) await settled(served);
    const connected: Subject[] = [];
    for (const subject of subjects) connected.push({ ...subject, tokens: await accessTokens(subject.served.origin) });
    return await run.inTurns('requests', connected, (subject) =>
      loadSlice(
        LANES,
        () => ask(subject),
        () => cpuMeter([subject.served.process.pid]),
      ),
    );
  } finally {
    for (const { pool, served } of subjects) {
      await pool.close();
      await served.process.stop();
    }
  }
}

async function measure(run: Run, urls: Parameters<typeof template>[0]): Promise<Findings> {
  const many = Number(options.schools);
  const shared = template(urls);
  const { resident, heap, ready } = await starts(run, shared, many);
  const measured = await requests(run, shared, many);
  const cpu = (name: string) => measured.get(name)?.map((cost) => cost.cpu) ?? [];
  const times = ratio(cpu(OF_MANY), cpu(ONE));
  const rows = [ONE, OF_MANY].map((name) => [
    name,
    shown(estimate(cpu(name)), 0),
    shown(ratio(cpu(name), cpu(ONE)), 3),
  ]);
  const text = `\`npm run bench -- schools\`: processes with ${many.toLocaleString('en')} schools whose files extend one template with the demo's settings,
and with one. Memory is that of each school beyond the first while nobody asks for any, after all files were checked and after
a forced collection; the time is from the spawn to the line "coursegate ready". Both are medians of ${STARTS} starts of each, in
turn. CPU time is that of a request with a token that is passed on, beside a process without \`schools\`.

${table(['each idle school: resident memory, KB', "of which V8's heap, KB", 'all ready, s'], [[resident.toFixed(1), heap.toFixed(1), ready.toFixed(2)]])}

${table(['school', 'CPU per request, µs', 'x one school alone'], rows)}`;
  return {
    text,
    goals: { idleSchool: resident, schoolsReady: ready, schoolRequest: times },
    partial: many === MANY ? undefined : `with ${many} schools`,
  };
}

await bench(BENCHES.schools, options, async (run) => {
  const backend = await startSchoolWithEcho({ ports: { school: 0, progress: 0, events: 0 }, gate: () => undefined });
  const upstream = createServer((_request, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  try {
    const echo = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    return await measure(run, { ...backend.urls, echo });
  } finally {
    upstream.close();
    upstream.closeAllConnections();
    await backend.close();
  }
});
