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
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      // As npx sets it, so that the commands in messages begin in the same way on every machine.
      npm_command: 'exec',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  /** The lines so far. The last one may not be complete. */
  const lines = [''];
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    const [rest = '', ...more] = text.split('\n');
    lines.push(lines.pop() + rest, ...more);
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
        let looked = 0;
        const look = () => {
          const found = lines.slice(looked).find((line) => pattern.test(line));
          // The last line may go on.
          looked = lines.length - 1;
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
        exited.then((code) => reject(new Error(`ended with ${code}: ${stderr}`)), reject);
      }),
  };
}
