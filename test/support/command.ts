import { type SpawnOptions, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type WatchedProcess, watchProcess } from './watched.ts';

export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export type Command = WatchedProcess;

/**
 * Runs `coursegate ...` as a separate process. Only with Node: a test that needs another program to run it starts that
 * itself, because all tests that import one are repeated on a bare machine (test/packaging/support/bare-machine.ts). `node` are options of Node.
 */
export function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  node: readonly string[] = [],
): Command {
  return watchProcess(spawn(process.execPath, [...node, MAIN, ...args], commandOptions(environment)));
}

/**
 * The options of its process. It inherits nothing from this process's environment except where programs are found and
 * compiled code is kept.
 */
export function commandOptions(environment: Readonly<Record<string, string>>) {
  return {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      // As npx sets it, so that the commands in messages begin in the same way on every machine.
      npm_command: 'exec',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  } satisfies SpawnOptions;
}
