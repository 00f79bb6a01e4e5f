import { parseArgs } from 'node:util';
import { accountQuery } from './account/account-query.ts';
import { startAccountUpstream } from './account/account-subjects.ts';
import { BENCHES } from './benches.ts';
import { MCP_REQUESTS } from './mcp/mcp-request.ts';
import { startOnce } from './process/gate-start.ts';
import { JsonClient } from './support/client.ts';
import { cpuMeter } from './support/cpu.ts';
import { ACCOUNT_AND_TOOLS, type Gate, startGate, THIS_TREE } from './support/gate.ts';
import { loadSlice } from './support/load.ts';
import { type RefreshLane, refreshLanes, refreshOnce } from './support/refreshing.ts';
import { conditions, table } from './support/report.ts';
import { OPTIONS, type Run, withRun } from './support/run.ts';
import { estimate, ratio, shown } from './support/statistics.ts';
import { checkOut, type Tree } from './support/tree.ts';
import { type Measured, type Named, twin } from './support/turns.ts';
import { allocations } from './upstream/load/allocations.ts';
import { saturate } from './upstream/load/saturate.ts';
import { startUpstream } from './upstream/upstream.ts';

/**
 * Compares the source in this checkout with another commit: `npm run bench -- compare REV`. Takes five minutes, prints a table, and
 * writes nothing. `--only` selects the measurements whose names contain it: `--only allocated` also says which functions allocate.
 */
const { values: options, positionals } = parseArgs({
  options: { rounds: OPTIONS.rounds, only: { type: 'string' } },
  allowPositionals: true,
});
const [revision] = positionals;
if (revision === undefined) throw new Error('which commit? npm run bench -- compare REV');

const NOW = 'this checkout';
const LANES = 8;

interface Version extends Named {
  readonly tree: string;
}
interface Subject extends Version {
  readonly gate: Gate;
  readonly client: JsonClient;
  readonly lanes: readonly RefreshLane[];
}
interface Cost {
  readonly cpu: number;
}

async function subjectOf(version: Version, run: Run, ports: Record<'bench' | 'school', number>): Promise<Subject> {
  const school = `http://127.0.0.1:${ports.school}`;
  const gate = await startGate({
    ...{ folder: run.folder, tree: version.tree, processor: 0 },
    upstreams: { school, progress: school, events: school, bench: `http://127.0.0.1:${ports.bench}` },
    routes: ['{ match: "GET /api/bench/**", upstream: bench, scopes: [courses:read], anonymous: refuse }'],
    more: ACCOUNT_AND_TOOLS(version.tree),
  });
  const client = new JsonClient({ name: version.name, port: gate.port, roots: [gate.pid], tokens: gate.tokens });
  return { ...version, gate, client, lanes: await refreshLanes(gate.origin, LANES) };
}

/** What is measured at running gates: CPU time per operation. */
function operations(run: Run): Readonly<Record<string, (subject: Subject, warming: boolean) => Promise<Cost>>> {
  const get =
    (path: string) =>
    ({ gate }: Subject, warming: boolean) =>
      saturate({ ...gate, roots: [gate.pid] }, path, warming ? 3 : 1, run.folder, true);
  return {
    'GET of 1 KiB': get('/api/bench/k1'),
    'GET of 64 KiB': get('/api/bench/k64'),
    refresh: ({ gate, lanes }) => loadSlice(lanes, refreshOnce, () => cpuMeter([gate.pid])),
    'Account query, 20 nodes': ({ client }) => client.load(accountQuery(20)),
    'MCP tools/call': ({ client }) => client.load(MCP_REQUESTS['tools/call, 2026-07-28']),
  };
}

const START = 'start, CPU';
const ALLOCATED = 'GET of 1 KiB, bytes allocated';

/** Prints the functions that allocate most in this checkout. It takes one slice, because it depends on nothing else. */
async function allocated(subjects: readonly Subject[], run: Run): Promise<Measured<Cost>> {
  const measured = new Map<string, Cost[]>();
  for (const { name, gate } of subjects) {
    const running = { ...gate, inspector: gate.inspector ?? 0, roots: [gate.pid] };
    const { bytes, sites } = await allocations(running, '/api/bench/k1', 5, run.folder);
    measured.set(name, [{ cpu: bytes }]);
    if (name !== NOW) continue;
    for (const site of sites.slice(0, 40)) run.say(`${Math.round(site.bytes).toString().padStart(6)} B  ${site.name}`);
  }
  return measured;
}

async function compare(run: Run, other: Tree): Promise<string> {
  const versions: Version[] = [
    { name: other.commit, tree: other.path },
    { name: NOW, tree: THIS_TREE },
    { name: twin(NOW), twinOf: NOW, tree: THIS_TREE },
  ];
  const asked = (name: string) => options.only === undefined || name.includes(options.only);
  const rows: string[][] = [];
  const add = (name: string, measured: Measured<Cost>) => {
    const of = (which: string) => measured.get(which)?.map(({ cpu }) => cpu);
    const [before, now, again] = [of(other.commit), of(NOW), of(twin(NOW))];
    const costs = [before, now].map((values) => shown(estimate(values ?? []), 0));
    rows.push([name, ...costs, shown(ratio(now, before), 3), shown(ratio(again, now), 3)]);
  };
  const [upstream, school] = [await startUpstream(run.folder), await startAccountUpstream(run.folder)];
  const subjects: Subject[] = [];
  try {
    for (const version of versions) {
      run.say(`starting ${version.name}`);
      subjects.push(await subjectOf(version, run, { bench: upstream.port, school: school.port }));
    }
    for (const [name, measure] of Object.entries(operations(run)).filter(([name]) => asked(name))) {
      add(`${name}, CPU µs`, await run.inTurns(name, subjects, measure));
    }
    if (asked(ALLOCATED)) add(ALLOCATED, await allocated(subjects, run));
    for (const { client } of subjects) await client.close();
  } finally {
    await Promise.allSettled(subjects.map(({ gate }) => gate.stop()));
    await upstream.stop();
    await school.stop();
  }
  if (asked(START)) {
    const starts = await run.inTurns(START, versions, ({ tree }) => startOnce(tree, run.folder));
    add('start, CPU ms', starts);
    add('start, ms', new Map([...starts].map(([name, all]) => [name, all.map(({ wall }) => ({ cpu: wall }))])));
  }
  return table(['', other.commit, NOW, `${NOW} / ${other.commit}`, `${NOW}, started twice (A/A)`], rows);
}

const at = conditions();
await withRun(BENCHES.compare, options, async (run) => {
  const other = checkOut(revision, run.folder);
  try {
    const compared = await compare(run, other);
    process.stdout.write(
      `\n${at.text}\n\nMedians of ${run.rounds} slices, with 95 % confidence intervals.\n\n${compared}\n`,
    );
  } finally {
    other.remove();
  }
  const against = run.objections();
  if (against.length === 0) return;
  process.stdout.write(`\nWhat speaks against these figures:\n${against.map((line) => `- ${line}\n`).join('')}`);
});
