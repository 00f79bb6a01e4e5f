import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Slow tests of the packaging rather than of single lines: they run last. */
const LAST = /^test\/(image|helm|soak|integrations|fuzz|faults|attack|docs)\//;
/** A test that starts the gate as a process sees what `main.ts` imports. */
const STARTS_PROCESS = /main\.ts|bin\/coursegate|gateProcess|runToEnd/;

/** The test files that depend on a module, ordered by how likely they are to detect a change of one of its lines. */
export interface Ranking {
  testsFor(file: string, line: number): readonly string[];
}

export function rankTests(root: string, tests: readonly string[]): Ranking {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const imports = new Map<string, ReadonlySet<string>>();
  const importsOf = (file: string): ReadonlySet<string> => {
    const known = imports.get(file);
    if (known !== undefined) return known;
    const text = read(file);
    const found = [...text.matchAll(/['"`](\.{1,2}\/[^'"`\s]+\.ts)['"`]/g)]
      .map(([, path = '']) => join(dirname(file), path))
      .filter((path) => existsSync(join(root, path)));
    if (file.startsWith('test/') && STARTS_PROCESS.test(text)) found.push('src/main.ts');
    const set = new Set(found);
    imports.set(file, set);
    return set;
  };
  const reachedFrom = (file: string): ReadonlySet<string> => {
    const reached = new Set([file]);
    for (const one of reached) for (const other of importsOf(one)) reached.add(other);
    return reached;
  };

  const all = tests.map((file) => ({ file, words: wordsOf(read(file) + file), sees: reachedFrom(file) }));
  const frequency = new Map<string, number>();
  for (const { words } of all) for (const word of words) frequency.set(word, (frequency.get(word) ?? 0) + 1);

  return {
    testsFor(file, line) {
      const lines = read(file).split('\n');
      const near = wordsOf([file, ...lines.slice(Math.max(0, line - 8), line + 7)].join('\n'));
      // A word that occurs in few tests counts more than a common one.
      const weight = (word: string) => Math.log(all.length / (frequency.get(word) ?? all.length));
      const folder = dirname(file).replace(/^src\/?/, 'test/');
      const scored = all
        .filter(({ sees }) => sees.has(file))
        .map(({ file: test, words }) => ({
          test,
          score:
            [...near].reduce((sum, word) => sum + (words.has(word) ? weight(word) : 0), 0) +
            (importsOf(test).has(file) ? 50 : 0) +
            (test.startsWith(`${folder}/`) || `${folder}/`.startsWith(`${dirname(test)}/`) ? 15 : 0) -
            (LAST.test(test) ? 1000 : 0),
        }));
      return scored.toSorted((a, b) => b.score - a.score).map(({ test }) => test);
    },
  };
}

/** Words and parts of compound words, in lower case: `openAnswers` and `open-answers` have the same. */
function wordsOf(text: string): ReadonlySet<string> {
  const whole = text.match(/[A-Za-z]\w{3,}/g) ?? [];
  const parts = whole.flatMap((word) => word.replace(/([a-z])([A-Z])/g, '$1 $2').split(/[ _]/));
  return new Set([...whole, ...parts.filter((part) => part.length > 3)].map((word) => word.toLowerCase()));
}
