import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The cost of one attack, in milliseconds of CPU time. */
export interface AttackCost {
  readonly name: string;
  readonly kilobytes: number;
  readonly code: string;
  readonly first: number;
  readonly median: number;
  readonly most: number;
}

const RUN = fileURLToPath(new URL('account-attacks.ts', import.meta.url));
const PROCESSES = 5;

/**
 * Rows of the table of attacks. Measured in several separate processes, so that each has its own first occurrence of every
 * attack. The figures are medians over these processes.
 */
export function attackRows(): string[][] {
  const runs = Array.from(
    { length: PROCESSES },
    () => JSON.parse(execFileSync(process.execPath, [RUN], { encoding: 'utf8' })) as AttackCost[],
  );
  return (runs[0] ?? []).map(({ name, kilobytes, code }, at) => {
    const middle = (figure: 'first' | 'median' | 'most') => {
      const values = runs.map((run) => run[at]?.[figure] ?? Number.NaN).toSorted((a, b) => a - b);
      return (values[Math.floor(PROCESSES / 2)] ?? Number.NaN).toFixed(2);
    };
    return [name, kilobytes.toFixed(1), code, middle('first'), middle('median'), middle('most')];
  });
}

/** The first occurrence of the most expensive attack, in milliseconds. */
export function dearestAttack(rows: readonly (readonly string[])[]): number {
  return Math.max(...rows.map((row) => Number(row[3])));
}
