import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks per second in /proc/<pid>/stat. USER_HZ is a fixed part of the Linux ABI. */
const TICKS_PER_SECOND = 100;

/** Nanoseconds by thread; by process if the kernel does not count threads. */
type Times = ReadonlyMap<string, number>;

let coarse: boolean | undefined;

/**
 * Starts to measure the CPU time of processes and their descendants. Returns a function that returns what all their threads
 * have used since, in microseconds. A thread that ends in the meantime counts only as far as it was seen.
 */
export function cpuMeter(roots: readonly number[]): () => number {
  const before = timesOf(roots);
  return () => {
    let used = 0;
    for (const [thread, time] of timesOf(roots)) used += time - (before.get(thread) ?? 0);
    return used / 1000;
  };
}

/** CPU time of processes and their descendants since they started, in microseconds. */
export function processorTime(roots: readonly number[]): number {
  let sum = 0;
  for (const time of timesOf(roots).values()) sum += time;
  return sum / 1000;
}

/** Proportional set size of processes and their descendants, in KiB. */
export function memoryOf(roots: readonly number[]): number {
  return roots
    .flatMap(familyOf)
    .reduce((sum, pid) => sum + Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0), 0);
}

/** The share of all CPU time that is in use, over the next `seconds`: 1 if every CPU is busy. */
export async function busyShare(seconds: number): Promise<number> {
  const before = machineTimes();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const after = machineTimes();
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function timesOf(roots: readonly number[]): Times {
  coarse ??= hasNoSchedstat();
  return new Map(roots.flatMap(familyOf).flatMap((pid) => (coarse ? [coarseTime(pid)] : threadTimes(pid))));
}

/** The first field of schedstat is the time on a CPU, in nanoseconds. */
function threadTimes(pid: number): [string, number][] {
  return threadsOf(pid).map((thread) => [
    `${pid}/${thread}`,
    Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]),
  ]);
}

/** utime and stime are fields 14 and 15 (proc(5)). The name before them may contain any character. */
function coarseTime(pid: number): [string, number] {
  const fields = read(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return [String(pid), ((Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 1e9) / TICKS_PER_SECOND];
}

function hasNoSchedstat(): boolean {
  if (read('/proc/self/stat') === '') throw new Error('CPU time is read from /proc: run the benches on Linux');
  if (Number(read('/proc/self/schedstat').split(' ')[0]) > 0) return false;
  process.stderr.write(
    'This kernel has no /proc/<pid>/task/*/schedstat: CPU time is read from /proc/<pid>/stat, in steps of 10 ms.\n',
  );
  return true;
}

/** The process and its descendants. */
function familyOf(pid: number): readonly number[] {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return [pid, ...children.flatMap(familyOf)];
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq and steal (proc(5)). */
function machineTimes(): { readonly all: number; readonly idle: number } {
  const fields = read('/proc/stat').split('\n')[0]?.split(/\s+/).slice(1, 9).map(Number) ?? [];
  return { all: fields.reduce((sum, field) => sum + field, 0), idle: (fields[3] ?? 0) + (fields[4] ?? 0) };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1').trim();
  } catch {
    return '';
  }
}
