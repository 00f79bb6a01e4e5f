import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../packaging/files.ts';
import { importsIn, reachedFrom } from '../../support/imports.ts';

const STARTS =
  /(?<![.\w])(?:spawn|spawnSync|exec|execSync|execFile|execFileSync|promisify\(execFile\)|run)\(\s*(?!process\.execPath)/;
const MISSING = 'test/support/missing.ts';

/**
 * The test files that can notice what a machine has: those that are skipped without a program, and those that start one
 * other than Node. Read from the imports, so a new test is among them as soon as it does so.
 */
export function testsOfPrograms(): readonly string[] {
  const importsOf = importsIn(ROOT);
  const starts = (file: string) => {
    if (file === MISSING) return true;
    const text = readFileSync(join(ROOT, file), 'utf8');
    return !file.startsWith('src/') && text.includes("'node:child_process'") && STARTS.test(text);
  };
  const tests = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['**/node_modules'] }).toSorted();
  return tests.filter((test) => [...reachedFrom(test, importsOf).keys()].some(starts));
}
