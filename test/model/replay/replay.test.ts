import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { committedTraces } from '../model-files.ts';
import type { State, Trace } from '../trace.ts';
import { replay } from './replay.ts';
import { openStage, type Stage } from './stage.ts';

// The store in memory is of one process. Here, two gates have the same one, and a trace decides when its calls happen.
vi.mock('../../../src/storage/memory/open.ts', async () => ({ openMemory: (await import('./gates.ts')).openShared }));

const { traces } = committedTraces();
const titled = (trace: Trace, at: number) =>
  [`${at + 1}, ${trace.scene}: ${trace.steps.map(({ event }) => event).join(' ')}`, trace] as const;

describe('two gates on one store', () => {
  let stage: Stage;
  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    stage = await openStage();
  });
  afterAll(async () => {
    await stage.close();
    vi.useRealTimers();
  });

  it.each(traces.map(titled))('do as the model in trace %s', (_, trace) => replay(stage, trace));

  /** The trace with another state after its first event of this name. */
  const changed = (trace: Trace, event: string, change: (state: State) => State): Trace => {
    const place = trace.steps.findIndex((step) => step.event === event);
    const steps = trace.steps.map((step, at) => (at === place ? { ...step, state: change(step.state) } : step));
    return { ...trace, steps };
  };

  it.each<[string, RegExp, (state: State) => State]>([
    [
      'RecallReusedToken',
      /RecallReusedToken Request\d: Request\d: expected Refused, got Reuse$/,
      (state) => ({ ...state, phase: (state.phase ?? []).map((one) => one.replace('Reuse', 'Refused')) }),
    ],
    [
      'CommitToken',
      /the generation of Grant0 in Primary: expected 0, got 1/,
      (state) => ({
        ...state,
        present: (state.present ?? [])
          .filter((one) => one.startsWith('Standby'))
          .flatMap((one) => [one, one.replace('Standby', 'Primary')]),
      }),
    ],
    ['Fill', /Replica\d remembers Pair\d: expected false, got true/, (state) => ({ ...state, cached: [] })],
    [
      'Hear',
      /Replica\d has a message: expected true, got false/,
      (state) => ({ ...state, told: ['Replica0', 'Replica1'] }),
    ],
  ])('differ from a trace with another state after %s', async (event, difference, change) => {
    const trace = traces.find(
      ({ steps, scene }) => steps.some((step) => step.event === event) && !scene.startsWith('failover'),
    );
    await expect(replay(stage, changed(trace as Trace, event, change))).rejects.toThrow(difference);
  });
});
