import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** What the CPU counted for processes. Instructions, unlike CPU time, do not depend on what else runs on the machine. */
interface Counts {
  readonly instructions: number;
  readonly cacheMisses: number;
}

const PERF = ['stat', '-x,', '-e', 'instructions,cache-misses'];

/** Why nothing can be counted; undefined if it can. Most virtual machines have no counters. */
export const countersMissing: string | undefined = whyMissing();

function whyMissing(): string | undefined {
  const { error, stderr } = spawnSync('perf', [...PERF, '--', 'true'], { encoding: 'utf8' });
  if (error !== undefined) return 'perf is not installed';
  return countsIn(stderr) === undefined ? 'perf can read no hardware counters here' : undefined;
}

/** The command that runs `command`, and meanwhile counts for processes and their children into a file. */
export function counting(processes: readonly number[], file: string, command: readonly string[]): readonly string[] {
  if (countersMissing !== undefined) return command;
  return ['perf', ...PERF, '-o', file, '-p', processes.flatMap(family).join(','), '--', ...command];
}

function family(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean);
  return [pid, ...children.flatMap((child) => family(Number(child)))];
}

/** Reads what was counted into the file. */
export function countsOf(file: string): Counts | undefined {
  return countersMissing === undefined ? countsIn(readFileSync(file, 'latin1')) : undefined;
}

/** Lines such as `1234,,instructions,…`; the user’s part alone is called `instructions:u`. */
function countsIn(text: string): Counts | undefined {
  const [instructions, cacheMisses] = ['instructions', 'cache-misses'].map((event) =>
    Number(new RegExp(`^(\\d+),[^,]*,${event}(?::u)?,`, 'm').exec(text)?.[1] ?? Number.NaN),
  ) as [number, number];
  return Number.isNaN(instructions) ? undefined : { instructions, cacheMisses };
}
