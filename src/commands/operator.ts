import type { Command } from 'commander';
import { type AdminClient, adminClient, type GateFlags } from './admin-client.ts';
import { CommandFailure, EXIT } from './failure.ts';
import { gateOptions } from './gate-options.ts';
import { tableOf } from './table.ts';
import type { Terminal } from './terminal.ts';

export interface OperatorFlags extends GateFlags {
  readonly json: boolean;
  readonly reason?: string;
  readonly yes: boolean;
}

/** Adds the options of a command that reads from the gate. */
export function asking(command: Command): Command {
  return gateOptions(command).option('--json', 'print JSON', false);
}

/** Adds the options of a command that changes something. */
export function changing(command: Command): Command {
  return asking(command)
    .option('--reason <text>', 'the reason to record in the audit log')
    .option('--yes', 'do not ask for confirmation (without a terminal, it never asks)', false);
}

/** Prints the gate's answer, as JSON or as text for people. */
export function answer(
  terminal: Terminal,
  { json }: Pick<OperatorFlags, 'json'>,
  told: unknown,
  text: () => string,
): void {
  terminal.print(json ? `${JSON.stringify(told, undefined, 2)}\n` : text());
}

export function table(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly (string | undefined)[])[],
): string {
  return tableOf(headings, rows, { colour: terminal.colour() });
}

/** Asks for confirmation. Throws CommandFailure when the operator declines. */
export async function agreed(terminal: Terminal, { yes }: Pick<OperatorFlags, 'yes'>, question: string): Promise<void> {
  if (yes || !terminal.interactive || (await terminal.confirm(question, false))) return;
  throw new CommandFailure('Cancelled: nothing was changed.', { code: EXIT.unanswered });
}

/** Sends a command that changes something, with the actor and the reason for the audit log. */
export async function change(
  gate: AdminClient,
  path: string,
  { reason }: Pick<OperatorFlags, 'reason'>,
  more: object = {},
): Promise<unknown> {
  return gate.command('POST', path, { by: 'operator', ...(reason === undefined ? {} : { reason }), ...more });
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
  const gate = await adminClient(flags, terminal.environment);
  const progress = progressOf(terminal, `Reading ${name}`);
  const found: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const given = Object.entries({ ...query, cursor, limit: '200' }).filter(([, value]) => value !== undefined);
    const page = (await gate.command('GET', `${path}?${new URLSearchParams(given as [string, string][])}`)) as Record<
      string,
      unknown
    >;
    found.push(...(page[name] as T[]));
    cursor = page.next as string | undefined;
    progress.at(found.length);
    if (cursor === undefined) break;
  }
  progress.done();
  return found;
}

/** `2026-11-22T10:49:31.000Z` becomes `2026-11-22 10:49 UTC`. */
export function when(iso: string | undefined): string {
  return iso === undefined ? '' : iso.replace('T', ' ').replace(/:\d\d(\.\d+)?Z$/, ' UTC');
}
