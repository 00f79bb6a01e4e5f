import { parseArgs } from 'node:util';
import { mysqlServer, postgresServer, type TestServer } from '../../test/storage/sql/servers.ts';
import { startRedis } from '../../test/support/redis.ts';
import { BENCHES } from '../benches.ts';
import { cpuMeter } from '../support/cpu.ts';
import { type Gate, type GateOptions, startGate, THIS_TREE } from '../support/gate.ts';
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
 * that one: `npm run bench -- refreshes [REV] [--stores sqlite,redis,postgres,mysql] [--lanes 1,8,64]`. Without a commit, the
 * stores take turns; with one, the two versions do, store by store. Prints a table, and writes nothing. The stores are in TMPDIR,
 * and all but Redis wait for the disk at each commit.
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

/** A store of its own for one gate. */
interface Place {
  readonly store: GateOptions['store'];
  readonly close: () => Promise<void>;
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  sqlite: async () => ({ store: undefined, close: async () => {} }),
  async redis() {
    const server = await startRedis({ appendOnly: true });
    return { store: { kind: 'redis', url: server.url }, close: server.close };
  },
  postgres: () => databaseOf('postgres', postgresServer(true)),
  mysql: () => databaseOf('mysql', mysqlServer(true)),
};

async function databaseOf(kind: 'postgres' | 'mysql', started: Promise<TestServer>): Promise<Place> {
  const server = await started;
  return { store: { kind, url: await server.database('refreshes') }, close: server.close };
}

/** Measures stores in turn, and returns the rows of the table. The first subject is what the others are compared with. */
async function measure(
  stores: readonly string[],
  versions: readonly (Named & { tree: string })[],
  run: Run,
): Promise<string[][]> {
  const places: Place[] = [];
  const subjects: Subject[] = [];
  const rows: string[][] = [];
  try {
    for (const kind of stores) {
      for (const { tree, name, twinOf } of versions) {
        const place = await PLACES[kind]?.();
        if (place === undefined) throw new Error(`no store is called ${kind}`);
        places.push(place);
        const named = { name: `${kind}, ${name}`, twinOf: twinOf && `${kind}, ${twinOf}` };
        run.say(`starting ${named.name}`);
        const gate = await startGate({ folder: run.folder, tree, upstreams: {}, store: place.store });
        subjects.push({ ...named, gate, lanes: await refreshLanes(gate.origin, Math.max(...LANES)) });
      }
    }
    for (const count of LANES) {
      const measured = await run.inTurns(`${count} in parallel`, subjects, ({ gate, lanes }) =>
        loadSlice(lanes.slice(0, count), refreshOnce, () => cpuMeter([gate.pid])),
      );
      const cpu = (name: string) => measured.get(name)?.map((cost) => cost.cpu) ?? [];
      for (const [name, costs] of measured) {
        const rate = estimate(costs.map(({ perSecond }) => perSecond));
        const compared = ratio(cpu(name), cpu(subjects[0]?.name ?? name));
        rows.push([String(count), name, shown(rate, 0), shown(estimate(cpu(name)), 0), shown(compared, 3)]);
      }
    }
    return rows;
  } finally {
    for (const { gate } of subjects) await gate.stop();
    for (const place of places) await place.close();
  }
}

await withRun(BENCHES.refreshes, options, async (run) => {
  const other = revision === undefined ? undefined : checkOut(revision, run.folder);
  const versions = [
    ...(other === undefined ? [] : [{ name: other.commit, tree: other.path }]),
    { name: NOW, tree: THIS_TREE },
    { name: twin(NOW), twinOf: NOW, tree: THIS_TREE },
  ];
  const rows: string[][] = [];
  try {
    const stores = options.stores.split(',');
    const groups = other === undefined ? [stores] : stores.map((store) => [store]);
    for (const group of groups) rows.push(...(await measure(group, versions, run)));
  } finally {
    other?.remove();
  }
  const heads = ['in parallel', 'gate', 'per second', 'CPU, µs', 'CPU / first'];
  process.stdout.write(`\n${conditions().text} A bare fdatasync takes ${syncTime(run.folder).toFixed(2)} ms.\n\n`);
  process.stdout.write(`${table(heads, rows)}\n`);
  const against = run.objections();
  if (against.length > 0)
    process.stdout.write(`What speaks against these figures:\n${against.map((line) => `- ${line}\n`).join('')}`);
});
