import { readFileSync } from 'node:fs';

/** Clock ticks per second in /proc. USER_HZ is a fixed part of the Linux ABI. */
const TICKS_PER_SECOND = 100;

/** The process and its descendants. */
function familyOf(pid: number): readonly number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(familyOf)];
}

/** User and system time of processes and their descendants, all threads included, in microseconds. */
export function processorTime(roots: readonly number[]): number {
  return roots.flatMap(familyOf).reduce((sum, pid) => {
    // Parse after the name, which may contain any character. utime and stime are fields 14 and 15 (proc(5)).
    const fields = read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    return sum + ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 1e6) / TICKS_PER_SECOND;
  }, 0);
}

/** Proportional set size of processes and their descendants, in KiB. */
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
