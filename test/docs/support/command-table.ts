import type { Command } from 'commander';
import { ALL, createProgram } from '../../../src/commands/program.ts';

/** The options and arguments of a command. */
interface Described {
  readonly commands: ReadonlySet<string>;
  /** Whether an option takes a value, by `--name` and `-n`. */
  readonly options: ReadonlyMap<string, boolean>;
  /** The number of arguments. */
  readonly needed: number;
  readonly most: number;
}

const [PROGRAM] = await createProgram(ALL);

function described(path: readonly string[]): Described {
  const below = (command: Command | undefined, name: string) => command?.commands.find((one) => one.name() === name);
  const command = path.reduce(below, PROGRAM) ?? PROGRAM;
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const given = command.registeredArguments;
  return {
    commands: new Set(command.commands.map((one) => one.name())),
    options: new Map(
      options.flatMap(({ short, long, required, optional }) =>
        [short, long].flatMap((name) => (name === undefined ? [] : [[name, required || optional] as const])),
      ),
    ),
    needed: given.filter(({ required }) => required).length,
    most: given.some(({ variadic }) => variadic) ? Number.POSITIVE_INFINITY : given.length,
  };
}

/**
 * Checks the words after `coursegate`. Throws if the command or option does not exist, or if the number of arguments is
 * wrong.
 */
export function checkCommand(words: readonly string[]): void {
  const path: string[] = [];
  let here = described([]);
  let given = 0;
  const rest = [...words];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word.startsWith('-') && word !== '-') {
      const [name = '', value] = word.split('=');
      const takes = here.options.get(name);
      if (takes === undefined) throw new Error(`coursegate ${path.join(' ')} has no option ${name}`);
      if (takes && value === undefined) rest.shift();
    } else if (here.commands.size > 0) {
      if (!here.commands.has(word)) {
        throw new Error(
          `there is no command coursegate ${[...path, word].join(' ')}; there are ${[...here.commands].join(', ')}`,
        );
      }
      path.push(word);
      here = described(path);
    } else given += 1;
  }
  if (here.commands.size > 0 && path.length > 0)
    throw new Error(`coursegate ${path.join(' ')} needs a command behind it`);
  if (given < here.needed || given > here.most) {
    throw new Error(`coursegate ${path.join(' ')} takes ${here.needed} argument(s), and is given ${given}`);
  }
}
