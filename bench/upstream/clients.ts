import { parseArgs } from 'node:util';
import { BENCHES } from '../benches.ts';
import { type Gate, startGate } from '../support/gate.ts';
import { conditions, table } from '../support/report.ts';
import { OPTIONS, type Run, withRun } from '../support/run.ts';
import { estimate, ratio, shown } from '../support/statistics.ts';
import { type Named, twin } from '../support/turns.ts';
import { saturate } from './load/saturate.ts';
import { startUpstream } from './upstream.ts';

/**
 * Compares the whole gate with its own HTTP client and with undici: CPU time per authenticated GET. `npm run bench -- clients`
 * prints a table and writes nothing.
 */
const { values: options } = parseArgs({ options: { rounds: OPTIONS.rounds } });

const UNDICI = 'undici';
const OURS = 'our own client';

interface Subject extends Named {
  readonly gate: Gate;
}

async function compare(run: Run): Promise<string> {
  const upstream = await startUpstream(run.folder);
  const start = (client?: 'undici') =>
    startGate({
      ...{ folder: run.folder, profile: 'B', processor: 0, client },
      upstreams: { bench: `http://127.0.0.1:${upstream.port}` },
      routes: ['{ match: "GET /api/bench/**", upstream: bench, scopes: [courses:read], anonymous: refuse }'],
    });
  const subjects: Subject[] = [];
  const rows: string[][] = [];
  try {
    subjects.push({ name: UNDICI, gate: await start('undici') });
    subjects.push({ name: twin(UNDICI), twinOf: UNDICI, gate: await start('undici') });
    subjects.push({ name: OURS, gate: await start() });
    for (const path of ['/api/bench/k1', '/api/bench/k64']) {
      const measured = await run.inTurns(path, subjects, ({ gate }, warming) =>
        saturate({ ...gate, roots: [gate.pid] }, path, warming ? 3 : 1, run.folder, true),
      );
      const of = (name: string) => measured.get(name)?.map(({ cpu }) => cpu) ?? [];
      const [undici, again, ours] = [of(UNDICI), of(twin(UNDICI)), of(OURS)];
      const costs = [undici, ours].map((values) => shown(estimate(values)));
      rows.push([path, ...costs, shown(ratio(ours, undici), 3), shown(ratio(again, undici), 3)]);
    }
  } finally {
    await Promise.allSettled(subjects.map(({ gate }) => gate.stop()));
    await upstream.stop();
  }
  return table(['CPU µs per request', UNDICI, OURS, `${OURS} / ${UNDICI}`, 'undici, started twice (A/A)'], rows);
}

const at = conditions();
await withRun(BENCHES.clients, options, async (run) => {
  process.stdout.write(
    `\n${at.text}\n\nMedians of ${run.rounds} slices, with 95 % intervals.\n\n${await compare(run)}\n`,
  );
  const against = run.objections();
  if (against.length === 0) return;
  process.stdout.write(`\nWhat speaks against these figures:\n${against.map((line) => `- ${line}\n`).join('')}`);
});
