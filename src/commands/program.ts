import { Command } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { ASK, subcommand } from './command.ts';
import { COMMAND_TABLE } from './command-table.ts';
import type { Typed } from './failure.ts';
import { processTerminal, type Terminal } from './terminal.ts';

/** Instead of the name of a command: all of them. */
export const ALL = '*';

/**
 * The program with all its commands. `wanted` is the one that is loaded, or ALL: of the others, only the name
 * and what they do are known.
 */
export async function createProgram(wanted: string | undefined): Promise<readonly [Command, Terminal]> {
  const program = new Command('coursegate');
  const terminal = processTerminal(() => program.opts<{ color: boolean }>().color === false);
  program
    .description(
      'Lets members of an existing course site connect apps and assistants with the login they already have.',
    )
    .version(manifest.version, '-V, --version', 'print the version')
    .option('--no-color', 'print without colours, like the variable NO_COLOR')
    .helpOption('-h, --help', 'print help for a command')
    .configureHelp({
      showGlobalOptions: true,
      minWidthToWrap: 20,
      // A default of false goes without saying.
      optionDescription(option) {
        const { argChoices, defaultValue, description, mandatory } = option;
        const more = [
          ...(mandatory ? ['required'] : []),
          ...(argChoices === undefined ? [] : [`one of: ${argChoices.join(', ')}`]),
          ...(typeof defaultValue === 'string' ? [`default: ${defaultValue}`] : []),
        ];
        return more.length === 0 ? description : `${description} (${more.join('; ')})`;
      },
      styleTitle: (text) => `\u001b[1m${text}\u001b[22m`,
    })
    // Failures that commander finds are rendered below, like all others.
    .configureOutput({ outputError: () => {}, getOutHasColors: terminal.colour, getErrHasColors: () => false })
    .exitOverride();
  for (const [heading, entries] of Object.entries(COMMAND_TABLE)) {
    for (const [name, load] of Object.entries(entries)) {
      const command = subcommand(program, name).helpGroup(heading);
      if (wanted === name || wanted === ALL) (await load()).define(command, terminal);
    }
  }
  program.commandsGroup('Help:').helpCommand('help [command]', 'print help for a command');
  if (wanted === undefined || wanted === ALL) {
    const { programName } = await import('../operator/program-name.ts');
    program.addHelpText('after', () =>
      ['', 'To try it:', `  ${programName()} demo`, `  ${programName()} connect http://localhost:8080`].join('\n'),
    );
  }
  return [program, terminal];
}

/** Runs the command line of this process, and sets its exit code. */
export async function runProgram(): Promise<void> {
  const typed = process.argv.slice(2);
  // In `coursegate help serve`, the second word is the command.
  const named = typed.find((word) => !word.startsWith('-') && word !== 'help' && word !== ASK);
  const [program, terminal] = await createProgram(named);
  if (typed[0] === ASK) return printOffered(program, typed.slice(2));
  try {
    await program.parseAsync(process.argv, { from: 'node' });
  } catch (thrown) {
    const { describeFailure } = await import('./failure.ts');
    const report = describeFailure(thrown, understood(program, typed));
    if (report === undefined) return;
    const [what, ...more] = report.text.split('\n');
    terminal.tell([terminal.paintMessage(31, what ?? ''), ...more].join('\n'));
    terminal.end(report.code);
  }
}

/** Answers a completion script, in the form that it reads. */
async function printOffered(program: Command, words: readonly string[]): Promise<void> {
  const { offer } = await import('./completion/offer.ts');
  const offered = offer(program, words);
  const lines = typeof offered === 'string' ? [`:${offered}`] : offered.map((one) => one.join('\t'));
  for (const line of lines) console.log(line);
}

/** The longest prefix of the command line that names a command. */
function understood(program: Command, typed: readonly string[]): Typed {
  let command = program;
  const words = ['coursegate'];
  for (const word of typed.filter((one) => !one.startsWith('-'))) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
    words.push(word);
  }
  return { command: words.join(' '), config: command.opts<{ config?: string }>().config, argument: command.args[0] };
}
