import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { FAILED_FILES } from '../support/failed-files.ts';

/** Of more, the cause is hardly the machine. */
const MOST = 2;

/**
 * Runs the files that failed in the last run again, alone. Of 13,000 tests on two shared cores, one fails in about every
 * second run because a browser, a database or another test had the processor at the wrong moment. What fails twice, or
 * is in more than two files, fails. What passes is named: its test is to be mended like one that fails.
 */
const failed = existsSync(FAILED_FILES) ? (JSON.parse(readFileSync(FAILED_FILES, 'utf8')) as string[]) : [];
if (failed.length === 0 || failed.length > MOST) process.exit(1);
const names = failed.map((file) => relative(process.cwd(), file));
process.stdout.write(`\nOnce more, alone: ${names.join(' ')}\n`);
const { status } = spawnSync(
  'vitest',
  ['run', '--config', 'test/vitest.config.ts', '--no-file-parallelism', ...names],
  {
    stdio: 'inherit',
  },
);
if (status !== 0) process.exit(1);
for (const name of names) process.stdout.write(`UNSTABLE: ${name} failed among the others and passed alone\n`);
