import { execFileSync } from 'node:child_process';
import { ROOT } from './files.ts';

/** The time that everything built is dated with: `SOURCE_DATE_EPOCH`, or the time of the commit. Seconds since 1970. */
export function buildTime(): number {
  const given = process.env.SOURCE_DATE_EPOCH;
  const text = given ?? execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' }).trim();
  if (!/^\d{1,10}$/.test(text)) throw new Error(`SOURCE_DATE_EPOCH is “${text}”, and not a number of seconds`);
  return Number(text);
}
