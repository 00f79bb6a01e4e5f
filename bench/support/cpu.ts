import { readFileSync } from 'node:fs';

/** Linux counts in these; it has been a constant of the kernel's interface for as long as there is /proc. */
const TICKS_PER_SECOND = 100;

/** The process and all that it started. */
function familyOf(pid: number): readonly number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(familyOf)];
}

/** User and system time of processes and all their threads, in microseconds. In: the roots; their children are counted. */
export function processorTime(roots: readonly number[]): number {
  return roots.flatMap(familyOf).reduce((sum, pid) => {
    // After the name, which may hold anything: utime and stime are fields 14 and 15 of proc(5).
    const fields = read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    return sum + ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 1e6) / TICKS_PER_SECOND;
  }, 0);
}

/** Proportional set size of processes and their children, in KiB. */
export function memoryOf(roots: readonly number[]): number {
  return roots
    .flatMap(familyOf)
    .reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0), 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return '';
  }
}
