import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';

/** A process of the bench, and what it started itself. */
export interface Process {
  readonly pid: number;
  /** Ends it, and waits until it has ended. */
  stop(): Promise<void>;
}

export interface SpawnOptions {
  /** The processor it runs on; undefined: wherever it likes. */
  readonly processor?: number | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** What stands in its output once it takes requests; undefined: it is asked at `port`. */
  readonly ready?: RegExp;
  readonly port?: number;
  /** The file its output goes to. */
  readonly output: string;
}

/** Starts a program and waits until it is ready. Throws with the end of its output when it ends before. */
export async function startProcess(command: string, args: readonly string[], options: SpawnOptions): Promise<Process> {
  const pinned = options.processor === undefined || availableParallelism() < 2 ? [] : pin(options.processor);
  const [program = command, ...rest] = [...pinned, command, ...args];
  const output = openSync(options.output, 'a');
  const child = spawn(program, rest, {
    stdio: ['ignore', output, output],
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...options.environment },
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(
        new Error(`${command} ended with ${code ?? signal}: ${readFileSync(options.output, 'utf8').slice(-2000)}`),
      ),
    );
  });
  failed.catch(() => undefined);
  await Promise.race([untilReady(options), failed]);
  return { pid: child.pid ?? 0, stop: () => stop(child) };
}

function pin(processor: number): string[] {
  return ['taskset', '-c', String(processor)];
}

async function untilReady({ ready, port, output }: SpawnOptions): Promise<void> {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; ) {
    if (ready !== undefined && existsSync(output) && ready.test(readFileSync(output, 'latin1'))) return;
    if (port !== undefined && (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not ready within 30 seconds: ${output}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await gone;
  clearTimeout(late);
}

/** A port that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
