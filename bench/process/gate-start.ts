import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { processorTime } from '../support/cpu.ts';

/** Time and CPU time from the spawn to the line "coursegate ready", in milliseconds. */
export interface Start {
  readonly wall: number;
  readonly cpu: number;
}

/**
 * Starts a checkout, or what was built from it, with a new store and additional environment variables, and stops it. `program`
 * are the arguments of Node: its options, and the file.
 */
export async function startOnce(
  tree: string,
  folder: string,
  environment: Readonly<Record<string, string>> = {},
  config = join(tree, 'config/coursegate.yaml'),
  program: readonly string[] = [join(tree, 'src/main.ts')],
): Promise<Start> {
  const began = performance.now();
  const args = [...program, 'serve', '--config', config];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      ADMIN_PORT: '0',
      COURSEGATE_DATA: mkdtempSync(join(folder, 'data-')),
      ...environment,
    },
  });
  const exited = once(child, 'exit');
  let said = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(chunk);
    if (said.includes('coursegate ready')) break;
  }
  if (!said.includes('coursegate ready')) throw new Error('the gate did not become ready');
  const taken = { wall: performance.now() - began, cpu: processorTime([child.pid ?? 0]) / 1000 };
  // A normal exit, because Node writes its compile cache then.
  child.kill('SIGTERM');
  await exited;
  return taken;
}
