import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Command, Help } from 'commander';
import type { Define } from '../../src/commands/command.ts';
import { processTerminal } from '../../src/commands/terminal.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

const INTRODUCTION = `# Commands

Written by \`npm run reference\` from what each command says with \`--help\`; do not edit.

From a clone of this repository, run a command with \`npx coursegate\`. Results are on standard output and messages on
standard error. An error ends with a line \`Try:\` that says what to do next.

| Exit code | Meaning |
| --- | --- |
| 0 | success |
| 1 | failed |
| 2 | a question was answered with no, or an audit did not finish |
| 64 | wrong arguments |
| 69 | the gate or the backend does not answer |
| 78 | mistake in the configuration |

\`--no-color\` (or the variable \`NO_COLOR\`) prints without colours. \`--version\` prints the version.`;

/** The text of docs/reference/commands.md: every command with its arguments, options and examples. */
export async function commandReference(): Promise<string> {
  const commands = await Promise.all(topLevel().map(({ name, description }) => loaded(name, description)));
  const contents = commands.map((command) => {
    const name = command.name();
    return `| [\`${name}\`](#coursegate-${name}) | ${cell(command.description())} |`;
  });
  const table = ['| Command | What it does |', '| --- | --- |', ...contents].join('\n');
  return `${[INTRODUCTION, table, ...commands.flatMap((command) => sections(command, 'coursegate', 2))].join('\n\n')}\n`;
}

/** The commands as listed by the program, which wraps long descriptions. */
function topLevel(): readonly { readonly name: string; readonly description: string }[] {
  const help = execFileSync(process.execPath, [MAIN, '--help'], { encoding: 'utf8' });
  const [, listed = ''] = /^Commands:\n((?: .*\n)*)/m.exec(help) ?? [];
  const lines = listed.replace(/\n {5,}/g, ' ').split('\n');
  return lines.flatMap((line) => {
    const [, name, description = ''] = /^ {2}([a-z-]+) +(.*)$/.exec(line) ?? [];
    return name === undefined || name === 'help' ? [] : [{ name, description }];
  });
}

async function loaded(name: string, description: string): Promise<Command> {
  const { define } = (await import(`../../src/commands/${name}.ts`)) as { readonly define: Define };
  const command = new Command(name).description(description);
  define(
    command,
    processTerminal(() => true),
  );
  return command;
}

function sections(command: Command, above: string, depth: number): readonly string[] {
  const name = `${above} ${command.name()}`;
  const usage = new Help().commandUsage(command).replace(/^.*? (?=\[|<|$)|^\S+$/, '');
  const typed = command.commands.length > 0 ? '' : [name, usage].join(' ').trim();
  const own = [
    `${'#'.repeat(depth)} \`${name}\``,
    `${sentence(command.description())}${typed === '' ? '' : `\n\n\`${typed}\``}`,
    ...argumentsOf(command),
    ...examplesOf(command),
  ];
  return [...own, ...command.commands.flatMap((one) => sections(one, name, depth + 1))];
}

function argumentsOf(command: Command): readonly string[] {
  const rows = [
    ...command.registeredArguments.map((one) => {
      const name = one.required ? `<${one.name()}>` : `[${one.name()}]`;
      return `| \`${name}\` | ${cell(one.description)} |`;
    }),
    ...command.options
      .filter(({ hidden }) => !hidden)
      .map((option) => {
        const { flags, description, argChoices, defaultValue, mandatory } = option;
        const more = [
          ...(mandatory ? ['required'] : []),
          ...(argChoices === undefined ? [] : [`one of ${argChoices.map((one) => `\`${one}\``).join(', ')}`]),
          ...(defaultValue === undefined || defaultValue === false ? [] : [`default \`${String(defaultValue)}\``]),
        ];
        return `| \`${flags}\` | ${cell(description)}${more.length === 0 ? '' : ` (${more.join('; ')})`} |`;
      }),
  ];
  return rows.length === 0 ? [] : [['| Argument or option | |', '| --- | --- |', ...rows].join('\n')];
}

/** The examples below the command's help. */
function examplesOf(command: Command): readonly string[] {
  let text = '';
  const writeOut = (more: string) => {
    text += more;
  };
  command.configureOutput({ writeOut }).outputHelp();
  const [, lines = ''] = /^Examples?:\n((?: {2}.*\n?)+)/m.exec(text) ?? [];
  return lines === '' ? [] : [`\`\`\`sh\n${lines.replace(/^ {2}/gm, '').trimEnd()}\n\`\`\``];
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
