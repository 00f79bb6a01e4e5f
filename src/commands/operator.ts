import type { Command } from 'commander';
import { fillPath } from '../actions/fill-path.ts';
import { type ActionSubject, type Described, isUnknown } from '../actions/subject.ts';
import { shellWord } from '../operator/shell-word.ts';
import { adminClient, type GateFlags } from './admin-client.ts';
import { subcommand } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailure } from './failure.ts';
import type { Terminal } from './terminal.ts';

export interface OperatorFlags extends GateFlags {
  readonly json: boolean;
  readonly reason?: string;
  readonly yes: boolean;
}

/** Adds the options that select the running gate a command talks to, and `school` for one of its schools. */
export function gateOptions(
  command: Command,
  config = 'the configuration file of the running gate',
  school = true,
): Command {
  command.option('--config <file>', config);
  if (school) command.option('--school <name>', 'the school, if that file lists `schools`');
  return command
    .option('--admin <url>', 'the address of its admin listener, if it differs from the configuration')
    .option('--cert <file>', 'the client certificate for admin.mtls, PEM')
    .option('--key <file>', 'its private key, PEM');
}

/** Adds a subcommand that reads from the gate. */
export function asking(...named: Parameters<typeof subcommand>): Command {
  return gateOptions(subcommand(...named)).option('--json', 'print JSON', false);
}

/** Adds a subcommand that changes something. */
export function changing(...named: Parameters<typeof subcommand>): Command {
  return deciding(asking(...named));
}

/** Adds the options of a command that changes something. */
export function deciding(command: Command): Command {
  return command
    .option('--reason <text>', 'the reason to record in the audit log')
    .option('--yes', 'do not ask for confirmation (without a terminal, it never asks)', false);
}

/** Prints the gate's answer, as JSON or as text for people. */
export function answer(
  terminal: Terminal,
  { json }: Pick<OperatorFlags, 'json'>,
  value: unknown,
  text: () => string,
): void {
  terminal.print(json ? `${JSON.stringify(value, undefined, 2)}\n` : text());
}

/** Sends a command that changes something, with the actor and the reason for the audit log. */
export type SendChange = <T>(path: string, more?: object) => Promise<T>;

/** The options that select the gate, as they were typed, for a command to try next. */
function gateWords(flags: GateFlags): string {
  const words = (['config', 'school', 'admin', 'cert', 'key'] as const).flatMap((name) => {
    const value = flags[name];
    return value === undefined ? [] : [`--${name} ${shellWord(value)}`];
  });
  return words.join(' ');
}

/**
 * Fails for ids that are more likely typos: nothing is changed, and success is not reported. An action that can be meant
 * for them all the same asks `anyway`, and without a terminal needs --yes.
 */
export async function requireMeant(
  terminal: Terminal,
  flags: OperatorFlags,
  subject: ActionSubject,
  ids: readonly string[],
  anyway: string | undefined,
): Promise<void> {
  if (anyway !== undefined && flags.yes) return;
  if (anyway !== undefined && terminal.interactive) {
    if (await terminal.confirm(`${subject.unknown(ids)} ${anyway}`, false)) return;
    throw declined();
  }
  throw unknown(
    flags,
    subject,
    ids,
    `Nothing was changed.${anyway === undefined ? '' : ' If the id is right, add --yes.'}`,
  );
}

function unknown(flags: GateFlags, subject: ActionSubject, ids: readonly string[], reason?: string): CommandFailure {
  return new CommandFailure(subject.unknown(ids), {
    ...(reason !== undefined && { reason }),
    next: `coursegate ${subject.list} ${gateWords(flags)}`,
    code: EXIT.unanswered,
  });
}

function declined(): CommandFailure {
  return new CommandFailure('Cancelled: nothing was changed.', { code: EXIT.unanswered });
}

/**
 * Finds the gate and, if there is a question, asks it. Throws CommandFailure when the operator declines.
 * @param ofProcess whether it is a command for the process itself, where it has many schools
 */
export async function confirmed(
  terminal: Terminal,
  flags: OperatorFlags,
  question: string | undefined,
  ofProcess = false,
): Promise<SendChange> {
  const gate = await adminClient(flags, terminal, ofProcess);
  const asks = question !== undefined && !flags.yes && terminal.interactive;
  if (asks && !(await terminal.confirm(question, false))) throw declined();
  return (path, more) => gate.command('POST', path, { by: 'operator', reason: flags.reason, ...more });
}

/** Reads from the gate. */
export async function get<T>(terminal: Terminal, flags: GateFlags, path: string): Promise<T> {
  return (await adminClient(flags, terminal)).command('GET', path);
}

/** Looks up a member or an app, and throws CommandFailure if nothing is known of it. */
export async function known<T extends Described>(
  terminal: Terminal,
  flags: GateFlags,
  subject: ActionSubject,
  id: string,
): Promise<T> {
  const described = await get<T>(terminal, flags, fillPath(subject.path, { id }));
  if (isUnknown(described)) throw unknown(flags, subject, [id]);
  return described;
}

/** Reads all pages of a list and shows the progress. */
export async function everyPage<T>(
  terminal: Terminal,
  flags: GateFlags,
  path: string,
  query: Readonly<Record<string, string | undefined>>,
  name: string,
): Promise<readonly T[]> {
  const { progressOf } = await import('./progress.ts');
  const gate = await adminClient(flags, terminal);
  const progress = progressOf(terminal, `Reading ${name}`);
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams([...given, ['limit', '200']]);
  const found: T[] = [];
  for (let cursor: string | undefined; ; ) {
    if (cursor !== undefined) search.set('cursor', cursor);
    const page = await gate.command<Record<string, unknown>>('GET', `${path}?${search}`);
    found.push(...(page[name] as T[]));
    cursor = page.next as string | undefined;
    progress.at(found.length);
    if (cursor === undefined) break;
  }
  progress.done();
  return found;
}
