import type { Command } from 'commander';
import { bashScript } from './bash.ts';
import { type Described, describe } from './described.ts';
import { fishScript } from './fish.ts';
import type { Shell } from './shells.ts';
import { zshScript } from './zsh.ts';

const WRITERS: Readonly<Record<Shell, (program: Described) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** The completion script of a shell. It names all commands of `program`, so that pressing Tab starts nothing. */
export function completionScript(shell: Shell, program: Command): string {
  return WRITERS[shell](describe(program));
}
