import { gateProcess } from '../../test/faults/gate-process.ts';
import { registerApp } from '../../test/support/app.ts';
import { connect, refreshForm, token } from '../../test/support/connection.ts';
import { type Cost, costOfLanes, median, processorTimeOf } from '../support/measure.ts';
import { conditions, report, table } from '../support/report.ts';

const LANES = 4;
const ROUNDS = 9;
const EACH = 60;

/** What a refresh costs with an ID token of either algorithm, and without one. They take turns at one gate. */
export async function measureIdTokens(): Promise<void> {
  const at = conditions();
  const gate = await gateProcess();
  try {
    await gate.start();
    const subjects = [];
    for (const [name, algorithm, scope] of [
      ['no ID token', 'RS256', 'courses:read'],
      ['ES256', 'ES256', 'openid courses:read'],
      ['RS256', 'RS256', 'openid courses:read'],
    ] as const) {
      const app = await registerApp(gate.origin, { metadata: { id_token_signed_response_alg: algorithm } });
      const lanes = [];
      for (let lane = 0; lane < LANES; lane += 1) {
        const { refresh_token } = await connect(app, { parameters: { scope } });
        lanes.push({ app, refreshToken: String(refresh_token) });
      }
      subjects.push({ name, lanes, costs: [] as Cost[] });
    }
    const time = processorTimeOf(gate.pid());
    // The first round is warm-up.
    for (let round = -1; round < ROUNDS; round += 1) {
      for (const { lanes, costs } of subjects) {
        const measured = await costOfLanes(lanes, EACH, refreshOnce, time);
        if (round >= 0) costs.push(measured);
      }
    }
    const rows = subjects.map(({ name, costs }) => {
      const { perSecond, cpu } = median(costs);
      const spread = costs.map((one) => Math.round(one.cpu)).toSorted((a, b) => a - b);
      return [name, Math.round(cpu), `${spread[0]}–${spread.at(-1)}`, Math.round(perSecond)];
    });
    report(
      'Tokens: ID tokens',
      `${at}

\`BENCH_STORES=id-tokens npm run bench:tokens\`: refreshes over HTTP at one gate with the embedded store, ${LANES} in parallel, by the
algorithm of the app's ID token. Medians of ${ROUNDS} rounds of ${LANES * EACH} refreshes in which the three take turns; CPU time is that of the gate
only, with the least and the most of a round.

${table(['ID token', 'CPU per refresh, µs', 'rounds', 'per second'], rows)}`,
    );
  } finally {
    await gate.close();
  }
}

async function refreshOnce(lane: { readonly app: Awaited<ReturnType<typeof registerApp>>; refreshToken: string }) {
  const { status, body } = await token(lane.app, refreshForm(lane.app, lane.refreshToken));
  if (status !== 200) throw new Error(`the gate responded with ${status}: ${JSON.stringify(body)}`);
  lane.refreshToken = body.refresh_token;
}
