import { gateProcess } from '../../test/faults/gate-process.ts';
import { cpuMeter } from '../support/cpu.ts';
import { loadSlice } from '../support/load.ts';
import { type RefreshLane, refreshLanes, refreshOnce } from '../support/refreshing.ts';
import { table } from '../support/report.ts';
import type { Findings, Run } from '../support/run.ts';
import { estimate, shown } from '../support/statistics.ts';
import { syncTime } from '../support/sync-time.ts';
import { type Named, twin } from '../support/turns.ts';

const LANES = 8;

/** What a refresh costs with an ID token of either algorithm, and without one. Each has its own gate with the embedded store. */
export async function measureIdTokens(run: Run): Promise<Findings> {
  const closers: (() => Promise<void>)[] = [];
  try {
    const subjects: (Named & { readonly lanes: readonly RefreshLane[]; readonly pid: number })[] = [];
    for (const [name, algorithm, scope, twinOf] of [
      ['no ID token', 'RS256', 'courses:read'],
      ['ES256', 'ES256', 'openid courses:read'],
      [twin('ES256'), 'ES256', 'openid courses:read', 'ES256'],
      ['RS256', 'RS256', 'openid courses:read'],
    ] as const) {
      const gate = await gateProcess();
      closers.push(() => gate.close());
      await gate.start();
      const lanes = await refreshLanes(gate.origin, LANES, algorithm, scope);
      subjects.push({ name, twinOf, lanes, pid: gate.pid() });
    }
    const measured = await run.inTurns('refreshes', subjects, ({ lanes, pid }) =>
      loadSlice(lanes, refreshOnce, () => cpuMeter([pid])),
    );
    const rows = [...measured].map(([name, costs]) => [
      name,
      shown(estimate(costs.map(({ cpu }) => cpu)), 0),
      shown(estimate(costs.map(({ perSecond }) => perSecond)), 0),
    ]);
    const es256 = measured.get('ES256') ?? [];
    return {
      text: `\`BENCH_STORES=id-tokens npm run bench:tokens\`: refreshes over HTTP at gates with the embedded store, ${LANES} in parallel, by the
algorithm of the app's ID token. CPU time is that of the gate only. A bare \`fdatasync\` takes ${syncTime(run.folder).toFixed(2)} ms here.

${table(['ID token', 'CPU per refresh, µs', 'per second'], rows)}`,
      goals: {
        refreshCpu: estimate(es256.map(({ cpu }) => cpu)),
        refreshRate: estimate(es256.map(({ perSecond }) => perSecond)),
      },
    };
  } finally {
    for (const close of closers) await close();
  }
}
