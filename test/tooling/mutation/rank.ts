import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { importsIn, reachedFrom } from '../../support/imports.ts';

/** Tests of the repository, and those that take minutes, rather than of single lines: they run last. */
const LAST =
  /^test\/([^/]+$|(image|helm|soak|integrations|packaging|fuzz|faults|attack|docs)\/|simulation\/(schedules|planted)|process\/schools\/move)/;
/** A test that starts the gate as a process sees what `main.ts` imports. */
const STARTS_PROCESS = /main\.ts|bin\/coursegate|gateProcess|runToEnd/;

/**
 * The test files that depend on a module, ordered by how likely they are to detect a change of one of its lines: its own
 * test, those of its folder, those that import it, then the others. Each group begins with those that have most words in
 * common with the line and take little time.
 */
export interface Ranking {
  testsFor(file: string, line: number): readonly string[];
}

export function rankTests(root: string, tests: readonly string[]): Ranking {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const importsOf = importsIn(root, (file, text) =>
    file.startsWith('test/') && STARTS_PROCESS.test(text) ? ['src/main.ts'] : [],
  );
  const folders = new Set(tests.map((test) => dirname(test)));

  const all = tests.map((file) => {
    const text = read(file);
    return { file, words: wordsOf(text + file), sees: reachedFrom(file, importsOf), cost: costOf(text) };
  });
  const frequency = new Map<string, number>();
  for (const { words } of all) for (const word of words) frequency.set(word, (frequency.get(word) ?? 0) + 1);

  return {
    testsFor(file, line) {
      const lines = read(file).split('\n');
      const near = wordsOf([file, ...lines.slice(Math.max(0, line - 8), line + 7)].join('\n'));
      // A word that occurs in few tests counts more than a common one.
      const weight = (word: string) => Math.log(all.length / (frequency.get(word) ?? all.length));
      const own = file.replace(/^src\//, 'test/').replace(/\.ts$/, '.test.ts');
      // Modules of a folder without tests are tested in the folder above.
      let folder = dirname(own);
      while (folder !== 'test' && !folders.has(folder)) folder = dirname(folder);
      const groupOf = (test: string, steps: number, cost: number) => {
        if (LAST.test(test)) return 5;
        if (test === own) return 0;
        // A browser shows the pages of its folder, and takes minutes for those of others.
        if (cost === BROWSER && dirname(test) !== folder) return 4;
        if (folder !== 'test' && test.startsWith(`${folder}/`))
          return steps === 1 || basename(test).startsWith(basename(own, '.test.ts')) ? 1 : 2;
        return steps === 1 ? 3 : 4;
      };
      const scored = all.flatMap(({ file: test, words, sees, cost }) => {
        const steps = sees.get(file);
        if (steps === undefined) return [];
        const common = [...near].reduce((sum, word) => sum + (words.has(word) ? weight(word) : 0), 0);
        // A long test has more words in common with every line.
        const score = common / Math.sqrt(words.size) / cost;
        return [{ test, group: groupOf(test, steps, cost), score }];
      });
      return scored.toSorted((a, b) => a.group - b.group || b.score - a.score).map(({ test }) => test);
    },
  };
}

const BROWSER = 10;

/** How long a test takes, roughly: a browser takes ten times as long as a gate in this process. */
function costOf(text: string): number {
  if (/chromium/i.test(text)) return BROWSER;
  return STARTS_PROCESS.test(text) || /support\/command\.ts/.test(text) ? 4 : 1;
}

/** Words and parts of compound words, in lower case: `openAnswers` and `open-answers` have the same. */
function wordsOf(text: string): ReadonlySet<string> {
  const whole = text.match(/[A-Za-z]\w{3,}/g) ?? [];
  const parts = whole.flatMap((word) => word.replace(/([a-z])([A-Z])/g, '$1 $2').split(/[ _]/));
  return new Set([...whole, ...parts.filter((part) => part.length > 3)].map((word) => word.toLowerCase()));
}
