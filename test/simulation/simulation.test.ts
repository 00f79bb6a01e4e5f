import { describe, expect, it } from 'vitest';
import { createEntries } from './entries.ts';
import { timeline } from './history.ts';
import { makePlan } from './make-plan.ts';
import type { Plan } from './plan.ts';
import { addTo, describeFailure, describeTotal, newTotal } from './report.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';

/** From a seed that the long test does not reach. */
const FROM = 1_000_000;
const SCHEDULES = 150;

describe('the gates in simulated schedules', { concurrent: false }, () => {
  it('keep every promise', async () => {
    const total = newTotal();
    for (let seed = FROM; seed < FROM + SCHEDULES; seed += 1) {
      const outcome = await simulate(seed);
      addTo(total, outcome);
      if (outcome.violations.length > 0) expect.fail(describeFailure(await shrink(outcome)));
    }
    console.info(describeTotal(total));
  });

  it.each([
    ["an operator's two commands were on their way at once", [28_390, 38_153, 54_941]],
    ['a failover undid what was told', [60_572]],
    [
      'a code came after its window, and who redeemed it had died or another gate had ended it',
      [140_340, 143_097, 175_855],
    ],
    ['a token was looked up before the failover that lost it', [258_010]],
    ['two gates met old tokens at once', [298_846]],
    ['a code was first shown when it had expired', [18_914]],
    ['another gate had ended it: an old token was on its way there, or its answer was lost', [300_325, 313_414]],
  ])('keep what one of the first million broke: %s', async (_, seeds) => {
    for (const seed of seeds) expect((await simulate(seed)).violations, `seed ${seed}`).toEqual([]);
  });

  it('happen again word for word with the same seed', async () => {
    await repeat(Array.from({ length: 20 }, (_, at) => at + 1));
  });

  it.each([
    { kind: 'a store in a file', has: ({ store }: Plan) => store === 'sqlite' },
    { kind: 'keys', has: ({ bound }: Plan) => bound },
    { kind: 'events', has: ({ events }: Plan) => events },
    { kind: 'reloads', has: ({ reloads }: Plan) => reloads },
  ])('happen again word for word: $kind', async ({ has }) => {
    const seeds = Array.from({ length: 400 }, (_, at) => FROM + at).filter((seed) => has(makePlan(seed)));
    await repeat(seeds.slice(0, 5));
  });
});

/** Runs these seeds twice, the second time in the reverse order. */
async function repeat(seeds: readonly number[]): Promise<void> {
  const once = new Map<number, string>();
  for (const seed of seeds) once.set(seed, timeline((await simulate(seed)).history));
  for (const seed of seeds.toReversed()) expect(timeline((await simulate(seed)).history)).toBe(once.get(seed));
}

/** What a failover loses comes back with the next refresh: the record has the same revision then, and another token. */
const AROUND_A_FAILOVER = {
  gates: 2,
  members: ['M1'],
  durable: false,
  store: 'server',
  reloads: false,
  events: false,
  bound: false,
  calm: 12_000,
  actions: [
    { kind: 'exchange', at: 30, id: 0, connection: 0, gate: 0 },
    { kind: 'steal', at: 1800, id: 1, connection: 0, gate: 0 },
    { kind: 'refresh', at: 2000, id: 2, connection: 0, gate: 0 },
    { kind: 'refresh', at: 2500, id: 3, connection: 0, gate: 0 },
    { kind: 'thief', at: 3900, id: 4, connection: 0, gate: 1 },
  ],
  faults: [
    { kind: 'failover', at: 2900, lag: 1000, takes: 900 },
    { kind: 'backend', from: 2450, until: 2850, takes: 4000 },
  ],
} as const;

describe('a refresh that began before a failover', () => {
  it('gives nothing for a token that the store has lost, though its record has the same revision again', async () => {
    let lost = 0;
    for (let seed = 1; seed <= 20; seed += 1) {
      const { violations, history, coverage } = await simulate(seed, { plan: { ...AROUND_A_FAILOVER, seed } });
      expect(violations, timeline(history)).toEqual([]);
      if (coverage.situations.has('failover with loss')) lost += 1;
    }
    expect(lost).toBeGreaterThan(10);
  });
});

describe('a refresh that is sent twice while the member cuts the app off', () => {
  // In these schedules the second is compared before the end and recalled after it.
  it.each([25, 53, 58, 72, 156])('is not reported as a reuse: seed %i', async (seed) => {
    const plan = {
      ...{
        seed,
        gates: 2,
        members: ['M1'],
        store: 'server' as const,
        reloads: false,
        events: false,
        bound: false,
        durable: true,
        calm: 4000,
        faults: [],
      },
      actions: [
        { kind: 'exchange', at: 30, id: 0, connection: 0, gate: 0 },
        { kind: 'refresh twice', at: 2000, id: 1, connection: 0, gate: 0 },
        { kind: 'member cuts off', at: 2005 + (seed % 40), id: 2, connection: 0, gate: 1 },
      ],
    } as const;
    const { history, coverage } = await simulate(seed, { plan });
    expect(coverage.situations.has('refresh_token_reuse'), timeline(history)).toBe(false);
  });
});

describe('the simulated store', () => {
  it('applies all of a commit or nothing, and takes it back', () => {
    const entries = createEntries(() => 100);
    const entry = { kind: 'Grant', id: 'g', payload: '1', expiresAt: undefined, references: { member: 'm' } };
    expect(entries.apply([{ op: 'create', entry }])).toBeDefined();
    const second = { ...entry, payload: '2' };
    expect(
      entries.apply([
        { op: 'put', entry: second },
        { op: 'create', entry },
      ]),
    ).toBeUndefined();
    expect(entries.get('Grant', 'g')).toMatchObject({ payload: '1', revision: 1 });
    expect(entries.apply([{ op: 'update', entry: second, revision: 2 }])).toBeUndefined();
    const undo = entries.apply([{ op: 'update', entry: second, revision: 1 }]);
    expect(entries.findBy('Grant', 'member', 'm')).toMatchObject([{ payload: '2', revision: 2 }]);
    if (undo !== undefined) entries.undo(undo);
    expect(entries.findBy('Grant', 'member', 'm')).toMatchObject([{ payload: '1', revision: 1 }]);
  });
});
