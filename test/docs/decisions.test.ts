import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decisionIndex, readDecisions } from '../tooling/decision-index.ts';
import { PAGES, ROOT } from './support/pages.ts';

const DECISIONS = readDecisions();

describe('docs/decisions', () => {
  it('has consecutive numbers without duplicates', () => {
    expect(DECISIONS.length).toBeGreaterThanOrEqual(82);
    expect(DECISIONS.map(({ number }) => number)).toEqual(DECISIONS.map((_, at) => at + 1));
  });

  it('has an anchor and a reason for each decision', () => {
    expect(DECISIONS.filter(({ anchored }) => !anchored).map(({ file, number }) => `${file}: ${number}`)).toEqual([]);
    const reasonless = DECISIONS.filter(({ text }) => !/^\*\*Why:\*\* \S.{20}/m.test(text));
    expect(reasonless.map(({ file, number }) => `${file}: ${number}`)).toEqual([]);
  });

  it('has an index of all decisions', () => {
    const index = readFileSync(join(ROOT, 'docs/decisions/README.md'), 'utf8');
    expect(index, 'stale: run `npm run reference`').toBe(decisionIndex());
  });

  it('contains every number that another page refers to', () => {
    const numbers = new Set(DECISIONS.map(({ number }) => number));
    const wrong = PAGES.flatMap(({ file, prose }) =>
      prose.flatMap(({ number, text }) =>
        [...text.matchAll(/\bdecision (\d+)/gi)]
          .filter(([, named]) => !numbers.has(Number(named)))
          .map(([found]) => `${file}:${number}: ${found}`),
      ),
    );
    expect(wrong).toEqual([]);
  });
});
