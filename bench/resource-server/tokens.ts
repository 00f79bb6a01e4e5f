import { parseArgs } from 'node:util';
import { gateProcess } from '../../test/faults/gate-process.ts';
import { connect } from '../../test/support/connection.ts';
import { BENCHES } from '../benches.ts';
import { cpuMeter } from '../support/cpu.ts';
import { loadSlice } from '../support/load.ts';
import { type RefreshLane, refreshLanes, refreshOnce } from '../support/refreshing.ts';
import { table } from '../support/report.ts';
import { bench, type Findings, OPTIONS, type Run } from '../support/run.ts';
import { estimate, shown } from '../support/statistics.ts';
import { syncTime } from '../support/sync-time.ts';
import { type Named, twin } from '../support/turns.ts';

/**
 * What a refresh and a whole sign-in cost with an ID token of either algorithm, and without one. Each has its own gate with
 * the embedded store.
 */
const { values: options } = parseArgs({ options: OPTIONS });
const LANES = 8;

interface Subject extends Named {
  readonly lanes: readonly RefreshLane[];
  readonly pid: number;
}

async function measure(run: Run): Promise<Findings> {
  const closers: (() => Promise<void>)[] = [];
  try {
    const subjects: Subject[] = [];
    for (const [name, algorithm, scope, twinOf] of [
      ['no ID token', 'RS256', 'courses:read'],
      ['ES256', 'ES256', 'openid courses:read'],
      [twin('ES256'), 'ES256', 'openid courses:read', 'ES256'],
      ['RS256', 'RS256', 'openid courses:read'],
    ] as const) {
      run.say(`starting ${name}`);
      const gate = await gateProcess();
      closers.push(() => gate.close());
      await gate.start();
      const lanes = await refreshLanes(gate.origin, LANES, algorithm, scope);
      subjects.push({ name, twinOf, lanes, pid: gate.pid() });
    }
    const refreshes = await run.inTurns('refreshes', subjects, ({ lanes, pid }) =>
      loadSlice(lanes, refreshOnce, () => cpuMeter([pid])),
    );
    const signIns = await run.inTurns('sign-ins', subjects, ({ lanes: [one], pid, name }) => {
      const parameters = { scope: name === 'no ID token' ? 'courses:read' : 'openid courses:read' };
      return loadSlice(
        [1, 2],
        async () => one && connect(one.app, { parameters }),
        () => cpuMeter([pid]),
      );
    });
    const cpu = (measured: typeof refreshes, name: string) =>
      estimate((measured.get(name) ?? []).map((cost) => cost.cpu / 1000));
    const rate = (name: string) => estimate((refreshes.get(name) ?? []).map(({ perSecond }) => perSecond));
    const rows = subjects.map(({ name }) => [
      name,
      shown(cpu(refreshes, name), 2),
      shown(rate(name), 0),
      shown(cpu(signIns, name), 1),
    ]);
    return {
      text: `\`npm run bench -- tokens\`: refreshes over HTTP at gates with the embedded store, ${LANES} in parallel, and whole sign-ins of members
who are new to the browser, two in parallel: authorization request, the site's login, consent, and the code for tokens. By the algorithm
of the app's ID token. CPU time is that of the gate only. A bare \`fdatasync\` takes ${syncTime(run.folder).toFixed(2)} ms here.

${table(['ID token', 'CPU per refresh, ms', 'refreshes per second', 'CPU per sign-in, ms'], rows)}`,
      goals: {
        refreshCpu: cpu(refreshes, 'ES256'),
        refreshRate: rate('ES256'),
        signInCpu: cpu(signIns, 'ES256'),
      },
    };
  } finally {
    for (const close of closers) await close();
  }
}

await bench(BENCHES.tokens, options, measure);
