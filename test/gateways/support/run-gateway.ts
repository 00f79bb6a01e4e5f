import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { answers } from '../../support/answers.ts';
import type { RunningGateway } from './gateway-kind.ts';

/** The program that a variable of the environment names, or else the first of `names` in PATH or a folder of Debian's. */
export function programAt(variable: string, ...names: readonly string[]): string | undefined {
  const given = process.env[variable];
  if (given !== undefined && given !== '') return given;
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin'];
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** Runs a gateway, and resolves when it takes connections on `port`. Rejects with what it has said if it ends first. */
export async function runGateway(
  program: string,
  args: readonly string[],
  { port, environment = {} }: { readonly port: number; readonly environment?: Readonly<Record<string, string>> },
): Promise<RunningGateway> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...environment } });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', ({ message }) => {
      said += message;
      resolve();
    });
  });
  let over = false;
  void ended.then(() => {
    over = true;
  });
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (over || tries === 500) {
      child.kill('SIGKILL');
      throw new Error(`${program} did not start: ${said}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    async close() {
      child.kill('SIGTERM');
      // Some wait for idle connections of clients, which the tests do not close.
      const late = setTimeout(() => child.kill('SIGKILL'), 500);
      await ended;
      clearTimeout(late);
    },
  };
}
