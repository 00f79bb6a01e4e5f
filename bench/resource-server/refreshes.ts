import { parseArgs } from 'node:util';
import { startRedis } from '../../test/support/redis.ts';
import { cpuMeter } from '../support/cpu.ts';
import { type Gate, startGate, THIS_TREE } from '../support/gate.ts';
import { loadSlice } from '../support/load.ts';
import { type RefreshLane, refreshLanes, refreshOnce } from '../support/refreshing.ts';
import { conditions, table } from '../support/report.ts';
import { OPTIONS, type Run, withRun } from '../support/run.ts';
import { estimate, ratio, shown } from '../support/statistics.ts';
import { syncTime } from '../support/sync-time.ts';
import { checkOut } from '../support/tree.ts';
import { type Named, twin } from '../support/turns.ts';

/**
 * Measures what a refresh costs with each store and number of parallel clients, in this checkout and, if a commit is given, in
 * that one: `npm run bench:refreshes -- [REV] [--stores sqlite,redis] [--lanes 1,8,64]`. Prints a table, and writes nothing.
 * The embedded store is in TMPDIR.
 */
const { values: options, positionals } = parseArgs({
  options: {
    rounds: OPTIONS.rounds,
    stores: { type: 'string', default: 'sqlite,redis' },
    lanes: { type: 'string', default: '1,8,64' },
  },
  allowPositionals: true,
});
const [revision] = positionals;
const LANES = options.lanes.split(',').map(Number);
const NOW = 'this checkout';

interface Subject extends Named {
  readonly gate: Gate;
  readonly lanes: readonly RefreshLane[];
}

/** Measures one store, and returns the rows of the table. The first version is what the others are compared with. */
async function measure(store: string, versions: readonly (Named & { tree: string })[], run: Run): Promise<string[][]> {
  const servers = store === 'redis' ? await Promise.all(versions.map(() => startRedis({ appendOnly: true }))) : [];
  const subjects: Subject[] = [];
  const rows: string[][] = [];
  try {
    for (const [at, { tree, ...named }] of versions.entries()) {
      run.say(`starting ${named.name} with ${store}`);
      const gate = await startGate({ folder: run.folder, tree, upstreams: {}, redis: servers[at]?.url });
      subjects.push({ ...named, gate, lanes: await refreshLanes(gate.origin, Math.max(...LANES)) });
    }
    for (const count of LANES) {
      const measured = await run.inTurns(`${store}, ${count} in parallel`, subjects, ({ gate, lanes }) =>
        loadSlice(lanes.slice(0, count), refreshOnce, () => cpuMeter([gate.pid])),
      );
      const cpu = (name: string) => measured.get(name)?.map((cost) => cost.cpu) ?? [];
      for (const [name, costs] of measured) {
        const rate = estimate(costs.map(({ perSecond }) => perSecond));
        const compared = ratio(cpu(name), cpu(subjects[0]?.name ?? name));
        rows.push([store, String(count), name, shown(rate, 0), shown(estimate(cpu(name)), 0), shown(compared, 3)]);
      }
    }
    return rows;
  } finally {
    for (const { gate } of subjects) await gate.stop();
    for (const server of servers) await server.close();
  }
}

await withRun(Number(options.rounds ?? 7), async (run) => {
  const other = revision === undefined ? undefined : checkOut(revision, run.folder);
  const versions = [
    ...(other === undefined ? [] : [{ name: other.commit, tree: other.path }]),
    { name: NOW, tree: THIS_TREE },
    { name: twin(NOW), twinOf: NOW, tree: THIS_TREE },
  ];
  const rows: string[][] = [];
  try {
    for (const store of options.stores.split(',')) rows.push(...(await measure(store, versions, run)));
  } finally {
    other?.remove();
  }
  const heads = ['store', 'in parallel', 'gate', 'per second', 'CPU, µs', 'CPU / first'];
  process.stdout.write(`\n${conditions()} A bare fdatasync takes ${syncTime(run.folder).toFixed(2)} ms.\n\n`);
  process.stdout.write(`${table(heads, rows)}\n`);
  const against = run.objections();
  if (against.length > 0)
    process.stdout.write(`Not to be relied on:\n${against.map((line) => `- ${line}\n`).join('')}`);
});
