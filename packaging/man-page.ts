import type { Argument, Command, Option } from 'commander';
import { examplesOf, exitCodesOf, wordsOf } from '../src/commands/command.ts';
import { EXIT_MEANINGS } from '../src/commands/exit-codes.ts';

/** An option that so many commands describe in the same words is described once. */
const COMMON = 5;

const ENVIRONMENT: Readonly<Record<string, string>> = {
  COURSEGATE__BLOCK__KEY:
    'A value for the key of that name in the configuration, which it replaces: COURSEGATE__LISTEN__PORT for listen.port.',
  COURSEGATE_DOCTOR_TOKEN: 'The access token for doctor --gateway, instead of --token.',
  FORCE_COLOR: 'Colours even if standard output is not a terminal.',
  NO_COLOR: 'No colours, if it is set to anything.',
  NODE_EXTRA_CA_CERTS: 'A file with further certificate authorities to trust, PEM.',
  PORT: 'The port of the gate, if the configuration takes it from there, as that of the demo does.',
  ADMIN_PORT: 'The port of its admin listener, likewise.',
};

const FILES: Readonly<Record<string, string>> = {
  'coursegate.yaml': 'The configuration in the current folder, as init writes it.',
  '/etc/coursegate/coursegate.yaml': 'The configuration of the service that the Debian package installs.',
  '/var/lib/coursegate': 'Its store.',
};

/**
 * coursegate(1) in mdoc(7).
 * @param time - the date of the page, in milliseconds since 1970
 */
export function manPage(program: Command, time: number): string {
  const commands = leaves(program);
  const common = commonOptions(commands);
  const groups = Map.groupBy(program.commands, (command) => command.helpGroup());
  const date = new Date(time).toLocaleDateString('en-US', {
    timeZone: 'UTC',
    year: 'numeric',
    month: 'long',
    day: 'numeric',
  });
  return `${[
    `.Dd ${date}`,
    '.Dt COURSEGATE 1',
    '.Os',
    '.Sh NAME',
    '.Nm coursegate',
    '.Nd OAuth authorization server and gate for a course site',
    '.Sh SYNOPSIS',
    '.Nm',
    '.Op Fl -no-color',
    '.Ar command',
    '.Op Ar argument ...',
    '.Nm',
    '.Ar command',
    '.Fl -help',
    '.Nm',
    '.Fl -version',
    '.Sh DESCRIPTION',
    ...text(program.description()),
    '.Pp',
    'Results are written to standard output, messages to standard error.',
    'An error ends with a line',
    '.Dq Try:\\&',
    'that says what to do next.',
    ...[...groups].flatMap(([heading, members]) => [
      `.Ss ${heading.replace(/:$/, '')}`,
      '.Bl -tag -width Ds',
      ...members.flatMap(leaves).flatMap((command) => entry(command, common)),
      '.El',
    ]),
    '.Ss Options of several commands',
    '.Bl -tag -width Ds',
    ...[...common].flatMap(([, option]) => described(option)),
    ...program.options.flatMap(described),
    ...described(program.createOption('-h, --help', 'print help for a command')),
    '.El',
    '.Sh ENVIRONMENT',
    ...tagged('Ev', ENVIRONMENT),
    '.Sh FILES',
    ...tagged('Pa', FILES),
    '.Sh EXIT STATUS',
    '.Bl -tag -width 130',
    ...Object.entries(EXIT_MEANINGS).flatMap(([code, meaning]) => [`.It ${code}`, ...text(sentence(meaning))]),
    '.El',
    '.Pp',
    'What a command means by a code, where that is more, is listed with the command.',
    '.Sh EXAMPLES',
    'The demo, and a connection to it from a second terminal:',
    ...literal(['coursegate demo', 'coursegate connect http://localhost:8080']),
    '.Pp',
    'From a site that listens on port 8000 to a gate in front of it:',
    ...literal([
      'coursegate init --upstream http://127.0.0.1:8000 \\',
      '  --origin https://school.example',
      'coursegate check coursegate.yaml',
      'coursegate serve --config coursegate.yaml',
      'coursegate doctor https://school.example --config coursegate.yaml',
    ]),
    '.Pp',
    'The connected apps of a member, and the end of all of them:',
    ...literal([
      'coursegate members show --config coursegate.yaml m-1001',
      'coursegate members revoke --config coursegate.yaml m-1001',
    ]),
  ].join('\n')}\n`;
}

/** The commands below, and not those that only group others; the command itself if there are none. */
function leaves(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
}

const keyOf = ({ flags, description }: Option): string => `${flags} ${description}`;

function commonOptions(commands: readonly Command[]): ReadonlyMap<string, Option> {
  const counted = Map.groupBy(
    commands.flatMap((command) => command.options),
    keyOf,
  );
  const common = [...counted].filter(([, same]) => same.length >= COMMON);
  return new Map(common.map(([key, [option]]) => [key, option as Option]));
}

function entry(command: Command, common: ReadonlyMap<string, Option>): readonly string[] {
  const own = command.options.filter((option) => !common.has(keyOf(option)));
  const shared = command.options.filter((option) => common.has(keyOf(option)));
  const codes = exitCodesOf(command).filter(([code, meaning]) => meaning !== EXIT_MEANINGS[code]);
  const about = [...own.flatMap(described), ...command.registeredArguments.flatMap(describedArgument)];
  return [
    '.It Xo',
    ...wordsOf(command)
      .slice(1)
      .map((word) => `.Cm ${word}`),
    ...[...own, ...shared].map(synopsis),
    ...command.registeredArguments.map(argumentOf),
    '.Xc',
    ...text(sentence(command.description())),
    ...(about.length === 0 ? [] : ['.Bl -tag -width Ds', ...about, '.El']),
    ...(codes.length === 0
      ? []
      : ['.Pp', ...text(`Exit codes: ${codes.map(([code, meaning]) => `${code} ${meaning}`).join('; ')}.`)]),
    ...(examplesOf(command).length === 0 ? [] : literal(examplesOf(command).flatMap((one) => one.split('\n')))),
  ];
}

/** `.Op Fl -config Ar file`, or without brackets if it is required. */
function synopsis(option: Option): string {
  const { mandatory } = option;
  return mandatory ? `.${flagOf(option)}` : `.Op ${flagOf(option)}`;
}

function flagOf({ long, flags }: Option): string {
  const value = /[<[]([^>\]]+)/.exec(flags)?.[1];
  return `Fl ${escaped((long ?? '').slice(1))}${value === undefined ? '' : ` Ar ${escaped(value)}`}`;
}

function argumentOf(argument: Argument): string {
  const name = `Ar ${argument.name()}${argument.variadic ? ' ...' : ''}`;
  return argument.required ? `.${name}` : `.Op ${name}`;
}

function described(option: Option): readonly string[] {
  const { short, argChoices, defaultValue, description } = option;
  const more = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(', ')}`]),
    ...(typeof defaultValue === 'string' ? [`default ${defaultValue}`] : []),
  ];
  const item = `.It ${short === undefined ? '' : `Fl ${short.slice(1)} , `}${flagOf(option)}`;
  return [item, ...text(sentence(more.length === 0 ? description : `${description} (${more.join('; ')})`))];
}

function describedArgument(argument: Argument): readonly string[] {
  const { description, argChoices } = argument;
  const more = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
  return [`.It Ar ${escaped(argument.name())}`, ...text(sentence(description + more))];
}

function tagged(macro: string, entries: Readonly<Record<string, string>>): readonly string[] {
  const items = Object.entries(entries).flatMap(([name, about]) => [`.It ${macro} ${escaped(name)}`, ...text(about)]);
  return ['.Bl -tag -width Ds', ...items, '.El'];
}

function literal(lines: readonly string[]): readonly string[] {
  return ['.Bd -literal -offset indent', ...lines.map(escaped).map(guarded), '.Ed'];
}

/** Lines of at most 80 characters. Each sentence begins a line, as mdoc asks for it. */
function text(words: string): readonly string[] {
  return words.split(/(?<=[.?]) (?=[A-Z])/).flatMap((sentence) => {
    const lines: string[] = [];
    for (const word of escaped(sentence).split(' ')) {
      const last = lines.at(-1);
      if (last === undefined || last.length + 1 + word.length > 78) lines.push(word);
      else lines[lines.length - 1] = `${last} ${word}`;
    }
    return lines.map(guarded);
  });
}

/** A line that begins with a dot or an apostrophe would be a macro. */
const guarded = (line: string): string => (/^[.']/.test(line) ? `\\&${line}` : line);

/** What roff would replace by something that cannot be pasted. */
function escaped(words: string): string {
  return words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga')
    .replaceAll('~', '\\(ti')
    .replaceAll('^', '\\(ha')
    .replaceAll('’', '\\(cq');
}

const sentence = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1).replace(/\.$/, '')}.`;
