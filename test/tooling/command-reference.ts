import type { Command } from 'commander';
import { examplesOf } from '../../src/commands/command.ts';
import { EXIT_MEANINGS, exitCodesOf } from '../../src/commands/exit-codes.ts';
import { ALL, createProgram } from '../../src/commands/program.ts';

const INTRODUCTION = `# Commands

Written by \`npm run reference\` from what each command says with \`--help\`; do not edit.

From a clone of this repository, and in a project that depends on coursegate, run a command with \`npx coursegate\`. Results are
on standard output and messages on standard error. An error ends with a line \`Try:\` that says what to do next.

\`coursegate completion\` prints the completion script of your shell, and the Debian package installs it with the man page.

| Exit code | Meaning |
| --- | --- |
${Object.entries(EXIT_MEANINGS)
  .map(([code, meaning]) => `| ${code} | ${meaning} |`)
  .join('\n')}

What a command means by a code is listed with the command, where it is more than this.

Colours and progress are shown on a terminal only. \`--no-color\`, the variable \`NO_COLOR\` and \`TERM=dumb\` turn colours off;
\`FORCE_COLOR\` turns them on where there is no terminal. \`--version\` prints the version.`;

/** The text of docs/reference/commands.md: every command with its arguments, options and examples. */
export async function commandReference(): Promise<string> {
  const [program] = await createProgram(ALL);
  const groups = Map.groupBy(program.commands, (command) => command.helpGroup());
  const rows = [...groups].flatMap(([heading, commands]) => [
    `| **${heading.replace(/:$/, '')}** | |`,
    ...commands.map((one) => `| [\`${one.name()}\`](#coursegate-${one.name()}) | ${cell(one.summary())} |`),
  ]);
  const table = ['| Command | What it does |', '| --- | --- |', ...rows].join('\n');
  const all = program.commands.flatMap((command) => sections(command, 'coursegate', 2));
  return `${[INTRODUCTION, table, ...all].join('\n\n')}\n`;
}

function sections(command: Command, above: string, depth: number): readonly string[] {
  const name = `${above} ${command.name()}`;
  const usage = command
    .createHelp()
    .commandUsage(command)
    .replace(/^.*? (?=\[|<|$)|^\S+$/, '');
  const typed = command.commands.length > 0 ? '' : [name, usage].join(' ').trim();
  const own = [
    `${'#'.repeat(depth)} \`${name}\``,
    `${sentence(command.description())}${typed === '' ? '' : `\n\n\`${typed}\``}`,
    ...argumentsOf(command),
    ...exitNotes(command),
    ...examples(command),
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

/** What the command means by an exit code, where that is more than the code means in general. */
function exitNotes(command: Command): readonly string[] {
  const notes = exitCodesOf(command).filter(([code, meaning]) => meaning !== EXIT_MEANINGS[code]);
  if (notes.length === 0) return [];
  return [`Exit codes: ${notes.map(([code, meaning]) => `${code} ${cell(meaning)}`).join('; ')}.`];
}

function examples(command: Command): readonly string[] {
  const lines = examplesOf(command);
  return lines.length === 0 ? [] : [`\`\`\`sh\n${lines.join('\n')}\n\`\`\``];
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
