import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface Command {
  /** What was printed so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when a line of standard output matches; rejects when the command exits first. */
  line(pattern: RegExp): Promise<string>;
  /** The exit code, or the signal that killed it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  signal(signal: NodeJS.Signals): void;
  readonly pid: number | undefined;
}

/**
 * Runs `coursegate ...` as a separate process. It inherits nothing from this process's environment except where
 * programs are found and compiled code is kept.
 */
export function runCommand(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Command {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env.PATH ?? '', NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
    for (const watcher of watchers) watcher();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.on('close', (code, signal) => resolve(code ?? signal ?? 'SIGKILL'));
  });
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    signal: (signal) => void child.kill(signal),
    pid: child.pid,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = stdout.split('\n').find((line) => pattern.test(line));
          if (found !== undefined) resolve(found);
        };
        watchers.add(look);
        look();
        exited.then((code) => reject(new Error(`ended with ${code}: ${stderr}`)), reject);
      }),
  };
}
