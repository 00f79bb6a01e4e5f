import type { Command } from 'commander';
import { ALL, createProgram } from '../../../src/commands/program.ts';

/** Every command that does something: not those that only group others. */
export async function everyLeaf(): Promise<readonly Command[]> {
  const [program] = await createProgram(ALL);
  return leaves(program);
}

function leaves(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

/** What `--help` prints for a command, in a window of 80 columns. */
export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (more) => {
      text += more;
    },
    getOutHasColors: () => false,
    getOutHelpWidth: () => 80,
  });
  command.outputHelp();
  return text;
}
