import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyse, COMMAND, hasAlloy, type Result } from './alloy.ts';
import { MUTANTS } from './mutants.ts';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');
const MODEL = { 'tokens.als': read('tokens.als'), 'behaviour.als': read('behaviour.als') };
const PROMISES = read('promises.als');
const COMMANDS = [...PROMISES.matchAll(COMMAND)].map(([text, kind = '', name = '', scope = '']) => ({
  text,
  kind,
  name,
  scope,
}));
const CHECKS = COMMANDS.filter(({ kind }) => kind === 'check').map(({ name }) => name);

/** The promises with these commands only. */
function only(wanted: (name: string, at: number) => boolean): string {
  return COMMANDS.filter(({ name }, at) => !wanted(name, at)).reduce(
    (text, { text: other }) => text.replace(other, ''),
    PROMISES,
  );
}

/** The model with one mistake. */
function mutated(edits: (typeof MUTANTS)[number]['edits']): typeof MODEL {
  let text = MODEL['behaviour.als'];
  for (const [from, to] of edits) {
    if (text.split(from).length !== 2) throw new Error(`behaviour.als does not have this once: ${from}`);
    text = text.replace(from, () => to);
  }
  return { ...MODEL, 'behaviour.als': text };
}

/** At most two at a time: each keeps a processor busy. */
async function two<T>(work: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const results: T[] = [];
  const queue = [...work.entries()];
  const next = async (): Promise<void> => {
    for (let one = queue.shift(); one !== undefined; one = queue.shift()) results[one[0]] = await one[1]();
  };
  await Promise.all([next(), next()]);
  return results;
}

function table(results: readonly Result[]): string {
  return results
    .map(({ kind, name, found, seconds }) => {
      const outcome = kind === 'check' ? (found ? 'BROKEN' : 'holds') : found ? 'is possible' : 'IS NOT POSSIBLE';
      const scope = COMMANDS.find((command) => command.name === name)?.scope ?? '';
      return `${name.padEnd(20)}${outcome.padEnd(17)}${seconds.toFixed(1).padStart(6)} s  ${scope}`;
    })
    .join('\n');
}

const LONG = 900_000;

describe.skipIf(!hasAlloy())('the model of codes, refresh tokens and revocation', () => {
  let results: readonly Result[] = [];
  beforeAll(async () => {
    const half = (odd: number) => only((_, at) => at % 2 === odd);
    const halves = [0, 1].map((odd) => () => analyse({ ...MODEL, 'promises.als': half(odd) }));
    results = (await two(halves)).flat().toSorted((a, b) => at(a.name) - at(b.name));
    console.info(`\n${table(results)}\n`);
  }, LONG);
  const at = (name: string) => COMMANDS.findIndex((command) => command.name === name);
  const named = (name: string) => results.find((result) => result.name === name)?.found;

  it.each(CHECKS)('keeps the promise %s', (name) => expect(named(name)).toBe(false));

  it.each(COMMANDS.filter(({ kind }) => kind === 'run').map(({ name }) => name))('can be in the situation %s', (name) =>
    expect(named(name)).toBe(true),
  );

  describe('with a mistake', () => {
    let broken: readonly boolean[] = [];
    beforeAll(async () => {
      broken = await two(
        MUTANTS.map(({ edits, breaks, steps }) => async () => {
          const promise = only((name) => name === breaks).replace(/exactly \d+ steps$/m, `exactly ${steps} steps`);
          const [result] = await analyse({ ...mutated(edits), 'promises.als': promise });
          return result?.found === true;
        }),
      );
    }, LONG);

    it.each(MUTANTS.map(({ what, breaks }, number) => ({ what, breaks, number })))(
      'breaks $breaks: $what',
      ({ number }) => expect(broken[number]).toBe(true),
    );

    it('breaks each promise', () => {
      expect([...new Set(MUTANTS.map(({ breaks }) => breaks))].toSorted()).toEqual(CHECKS.toSorted());
    });
  });
});
