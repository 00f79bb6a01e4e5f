import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import budgets from '../../bench/budgets.json' with { type: 'json' };

const SRC = new URL('../../src/', import.meta.url);

/** Lines that are neither blank nor a comment, in the style of the project: a comment has lines of its own. */
function countedLines(text: string): number {
  return text.split('\n').filter((line) => !/^\s*(\/\/|\/\*|\*|$)/.test(line)).length;
}

it('src is no larger than its budget', () => {
  const files = readdirSync(fileURLToPath(SRC), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const lines = files.reduce((sum, file) => sum + countedLines(readFileSync(new URL(file, SRC), 'utf8')), 0);
  const { most } = budgets.sourceLines;
  expect(lines).toBeGreaterThan(0.9 * most);
  expect(lines, 'remove lines, or raise sourceLines in bench/budgets.json and say why').toBeLessThanOrEqual(most);
});

it('each budget is read where it is held', () => {
  const unread = Object.entries(budgets).filter(
    ([name, { heldBy }]) => !readFileSync(new URL(`../../${heldBy}`, import.meta.url), 'utf8').includes(name),
  );
  expect(unread.map(([name, { heldBy }]) => `${name} is not read in ${heldBy}`)).toEqual([]);
});
