import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type WatchedProcess, watchProcess } from './watched.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export type Command = WatchedProcess;

/**
 * Runs `coursegate ...` as a separate process. It inherits nothing from this process's environment except where
 * programs are found and compiled code is kept.
 * @param descriptors how many files the process may have open; by default as many as this one
 */
export function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  descriptors?: number,
): Command {
  // Node raises its soft limit to the hard one.
  const limited = descriptors === undefined ? [] : ['prlimit', `--nofile=${descriptors}:${descriptors}`];
  const [program = '', ...before] = [...limited, process.execPath];
  return watchProcess(
    spawn(program, [...before, MAIN, ...args], {
      env: {
        PATH: process.env.PATH ?? '',
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        // As npx sets it, so that the commands in messages begin in the same way on every machine.
        npm_command: 'exec',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
}
