import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';

/** A process started by the bench. */
export interface Process {
  readonly pid: number;
  /** Stops it and waits until it has ended. */
  stop(): Promise<void>;
}

export interface SpawnOptions {
  /** The CPU it is pinned to; undefined: any. */
  readonly processor?: number | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** Matches its output once it is ready; undefined: it is ready when `port` responds. */
  readonly ready?: RegExp;
  readonly port?: number;
  /** The file for its output. */
  readonly output: string;
}

/** Starts a program and waits until it is ready. If it ends first, throws an error with the end of its output. */
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

const given = new Set<number>();

/** A free port, and another one each time: what was given out may not listen yet. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await anyPort();
    if (!given.has(port)) {
      given.add(port);
      return port;
    }
  }
}

function anyPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
