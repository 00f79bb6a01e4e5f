import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './pages.ts';

/** The options and arguments in a command's `--help`. */
interface Described {
  readonly commands: ReadonlySet<string>;
  /** Whether an option takes a value, by `--name` and `-n`. */
  readonly options: ReadonlyMap<string, boolean>;
  /** The number of arguments. */
  readonly needed: number;
  readonly most: number;
}

const read = new Map<string, Described>();

/** Runs `coursegate --help` once for each command that a page names. */
function described(path: readonly string[]): Described {
  const name = path.join(' ');
  const known = read.get(name);
  if (known !== undefined) return known;
  const help = execFileSync(process.execPath, [join(ROOT, 'src/main.ts'), ...path, '--help'], { encoding: 'utf8' });
  const part = (title: string) => new RegExp(`^${title}:\\n((?: .*\\n?)*)`, 'm').exec(help)?.[1] ?? '';
  const usage = (/^Usage: (.*)$/m.exec(help)?.[1] ?? '').replace('[options]', '').replace('[command]', '');
  const found: Described = {
    commands: new Set([...part('Commands').matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, one = '']) => one)),
    options: new Map(
      [...help.matchAll(/^ {2}(?:(-\w), )?(--[a-z][a-z-]*)( [<[])?/gm)].flatMap(([, short, long = '', value]) =>
        [short ?? long, long].map((one) => [one, value !== undefined] as const),
      ),
    ),
    needed: usage.split(' ').filter((word) => word.startsWith('<')).length,
    most: /\.\.\.[>\]]/.test(usage)
      ? Number.POSITIVE_INFINITY
      : usage.split(' ').filter((word) => /^[<[]/.test(word)).length,
  };
  read.set(name, found);
  return found;
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
