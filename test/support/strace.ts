import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { missing } from './missing.ts';

const CANDIDATES = [process.env.STRACE, '/usr/bin/strace', '/usr/local/bin/strace'];

/** The strace on this machine, or undefined. */
const STRACE = CANDIDATES.find((path) => path !== undefined && existsSync(path));

/**
 * Whether the tests that make system calls fail can run. Without strace they are skipped with a message; in CI that is
 * an error.
 */
export function stracePresent(): boolean {
  if (STRACE !== undefined) return true;
  return missing(
    'no strace found: the disk failure tests need one (apt-get install strace, or set STRACE to its path)',
  );
}

/**
 * Makes system calls of process `pid` fail or take long while `work` runs. `inject` is the value of strace's `inject`
 * option, such as `fsync,fdatasync:error=EIO`. With `path`, only calls on that file count and are affected.
 */
export async function injecting<T>(pid: number, inject: string, work: () => Promise<T>, path?: string): Promise<T> {
  const calls = inject.split(':')[0] ?? '';
  const only = path === undefined ? [] : ['-P', path];
  const tracer = spawn(
    STRACE ?? '',
    ['-f', '-p', String(pid), ...only, '-e', `trace=${calls}`, '-e', `inject=${inject}`],
    {
      stdio: ['ignore', 'ignore', 'ignore'],
    },
  );
  try {
    await attached(tracer, pid);
    return await work();
  } finally {
    const ended = new Promise((resolve) => tracer.once('close', resolve));
    tracer.kill('SIGINT');
    if (tracer.exitCode === null) await ended;
  }
}

/** strace buffers its output, so ask the kernel whether it has attached to the process. */
async function attached(tracer: ChildProcess, pid: number): Promise<void> {
  while (!new RegExp(`^TracerPid:\\s+${tracer.pid}$`, 'm').test(readFileSync(`/proc/${pid}/status`, 'utf8'))) {
    if (tracer.exitCode !== null) throw new Error('strace did not attach');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
