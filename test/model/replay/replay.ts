import type { Tokens } from '../../support/connection.ts';
import type { Trace } from '../trace.ts';
import { described, type Moment, moment } from './model-state.ts';
import { observe } from './observe.ts';
import { play } from './play.ts';
import type { Played } from './running.ts';
import type { Stage } from './stage.ts';

/** Plays a trace, and compares after each step. Throws an Error that names the trace, the step and the differences. */
export async function replay(stage: Stage, trace: Trace): Promise<void> {
  const played: Played = { stage, trace, connections: new Map(), requests: new Map(), approvals: new Map() };
  try {
    await setUp(played);
    let before = moment(trace.start, trace.given);
    await compare(-1, before);
    for (const [at, { state }] of trace.steps.entries()) {
      const after = moment(state, trace.given);
      await play(played, at, before, after).catch((thrown: Error) => {
        throw new Error(`${described(trace, at)}: ${thrown.message}`, { cause: thrown });
      });
      await compare(at, after);
      before = after;
    }
  } finally {
    await tearDown(played);
  }

  async function compare(at: number, expected: Moment): Promise<void> {
    const differences = await observe(played, expected, at === trace.steps.length - 1);
    if (differences.length > 0) throw new Error(`${described(trace, at)}: ${differences.join('; ')}`);
  }
}

/** Brings connections to where the trace begins. */
async function setUp({ stage, trace: { start, given }, connections }: Played): Promise<void> {
  const initial = moment(start, given);
  for (const name of given.Grant ?? []) {
    const connection = await stage.consenting();
    connections.set(name, connection);
    if (initial.has('consenting', name)) continue;
    await stage.approve(connection);
    const pair = initial.present('Primary', name);
    if (pair === undefined) continue;
    const gate = stage.gate(initial.of('by', pair)[0] ?? '');
    const { body } = await gate.send({ path: '/api/oauth/token', form: stage.codeForm(connection) }).answer;
    connection.tokens.set(pair, body as unknown as Tokens);
  }
  await stage.gates.copies.replicate();
}

async function tearDown({ stage, trace, requests, approvals }: Played): Promise<void> {
  for (const { abort } of requests.values()) abort();
  for (const { held } of [...approvals.values(), ...requests.values()]) held.forget();
  await Promise.allSettled([...approvals.values(), ...requests.values()].map(({ over }) => over));
  await stage.clear(trace.steps.some(({ event }) => event === 'Suspend'));
}
