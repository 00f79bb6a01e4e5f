import type { Command } from 'commander';
import { examplesOf, exitCodesOf } from '../../src/commands/command.ts';
import { EXIT_MEANINGS } from '../../src/commands/exit-codes.ts';
import { ALL, createProgram } from '../../src/commands/program.ts';

const INTRODUCTION = `# Commands

Every command has a page with its options, exit codes and examples: the same that \`coursegate COMMAND --help\` prints. From a
clone of this repository, and in a project that depends on coursegate, run a command with
\`npx coursegate\`. Results are on standard output and messages on standard error. An error ends with a line \`Try:\` that says
what to do next.

\`coursegate completion\` prints the completion script of your shell, and the Debian package installs it with the man page.

| Exit code | Meaning |
| --- | --- |
${Object.entries(EXIT_MEANINGS)
  .map(([code, meaning]) => `| ${code} | ${meaning} |`)
  .join('\n')}

Where a command means more than this by a code, its page says so.

Colours and progress are shown on a terminal only. \`--no-color\`, the variable \`NO_COLOR\` and \`TERM=dumb\` turn colours off;
\`FORCE_COLOR\` turns them on where there is no terminal. \`--version\` prints the version.`;

/** Below each page, where somebody who wants to change it reads it. */
const WRITTEN = '<!-- Written by `npm run reference`: change what `--help` says instead. -->';

/** The pages of docs/reference/commands: file name and text. README.md lists the commands, and each has a page of its own. */
export async function commandPages(): Promise<ReadonlyMap<string, string>> {
  const [program] = await createProgram(ALL);
  const groups = Map.groupBy(program.commands, (command) => command.helpGroup());
  const rows = [...groups].flatMap(([heading, commands]) => [
    `| **${heading.replace(/:$/, '')}** | |`,
    ...commands.map((one) => `| [\`${one.name()}\`](${one.name()}.md) | ${cell(one.summary())} |`),
  ]);
  const table = ['| Command | What it does |', '| --- | --- |', ...rows].join('\n');
  const [introduction, ...about] = INTRODUCTION.split('\n\n| Exit code');
  return new Map([
    ['README.md', page([introduction ?? '', table, `## Exit codes and output\n\n| Exit code${about.join('')}`])],
    ...program.commands.map((command) => [`${command.name()}.md`, page(sections(command, 'coursegate', 1))] as const),
  ]);
}

const page = (parts: readonly string[]): string => `${[...parts, WRITTEN].join('\n\n')}\n`;

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
