import { fileURLToPath } from 'node:url';
import { runCommand } from './command.ts';
import { COMMAND_SECRET } from './commands.ts';

const CONFIG = fileURLToPath(new URL('../../config/coursegate.yaml', import.meta.url));

export interface Ran {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `coursegate …` until it exits. */
export async function runToEnd(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const command = runCommand(args, environment);
  return { code: await command.exited, stdout: command.stdout(), stderr: command.stderr() };
}

/** Runs `coursegate …` against the gate of a world, with the admin secret from `commands.ts`. */
export function operate(world: { readonly admin: string; readonly data: string }, ...args: readonly string[]) {
  return runToEnd([...args, '--config', CONFIG, '--admin', world.admin], {
    COURSEGATE_DATA: world.data,
    COMMAND_SECRET,
    COURSEGATE__ADMIN__HMAC__SECRET__ENV: 'COMMAND_SECRET',
  });
}
