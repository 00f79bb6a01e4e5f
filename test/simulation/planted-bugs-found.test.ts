import { beforeAll, describe, expect, it } from 'vitest';
import { MUTANTS } from '../model/mutants.ts';
import { type Found, recorded, searchFor, twoAtATime } from './found-bugs.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';

/** If the recorded seed no longer finds a bug, because the simulation has changed, so many schedules are tried. */
const MOST = 2000;
const LONG = 900_000;

describe('planted bugs', () => {
  const found = new Map<string, Found | undefined>();
  let clean: readonly Found[] = [];
  const bySimulation = PLANTED_BUGS.filter(({ model }) => model === undefined);

  beforeAll(async () => {
    const seeds = recorded();
    await twoAtATime(bySimulation, async ({ name }) => {
      const seed = seeds[name]?.seed;
      const [again] = seed === undefined ? [] : await searchFor(name, 1, [seed]);
      found.set(name, again?.promise === undefined ? (await searchFor(name, MOST, [1]))[0] : again);
    });
    const all = [...found.values()].flatMap((one) => one?.seed ?? []);
    clean = await searchFor('none', 1, [...new Set(all)]);
  }, LONG);

  it.each(bySimulation)('are found by the simulation: $name', ({ name }) => {
    expect(found.get(name)?.promise).toBeDefined();
  });

  it('are the reason why those schedules break a promise', () => {
    expect(clean.flatMap(({ seed }) => seed ?? [])).toEqual([]);
  });

  it.each(PLANTED_BUGS.filter(({ model }) => model !== undefined))(
    'are in the model otherwise: $name',
    ({ model, breaks }) => {
      expect(MUTANTS.find(({ what }) => what === model)?.breaks).toBe(breaks);
    },
  );
});
