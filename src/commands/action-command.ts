import type { Command } from 'commander';
import type { OperatorAction } from '../actions/action.ts';
import { fillPath } from '../actions/fill-path.ts';
import { type Described, isUnknown } from '../actions/subject.ts';
import { answer, changing, confirmed, get, type OperatorFlags, requireMeant } from './operator.ts';
import type { Terminal } from './terminal.ts';

/** How one command differs from the others. */
interface Special<Reply> {
  /** The values of the body, read from the argument. Without it, the argument is the id, or several. */
  readonly values?: (argument: string) => Promise<object>;
  /** Prints the reply to an action on one id. By default it is a line with the verb, the id and the grants ended. */
  readonly print?: (flags: OperatorFlags, reply: Reply) => void;
}

/** Adds the subcommand of an action, if it has one. */
export function actionCommand<Reply extends object>(
  parent: Command,
  terminal: Terminal,
  [verb, action]: readonly [verb: string, action: OperatorAction],
  { values, print }: Special<Reply> = {},
): void {
  const { command: typed, switches = {}, path = '' } = action;
  if (typed === undefined) return;
  const command = changing(parent, verb, typed);
  if (typed.argument !== undefined) command.argument(...typed.argument);
  for (const [name, help] of Object.entries(switches)) command.option(`--${name}`, help, false);
  command.action(async (...given: readonly unknown[]) => {
    const { progressOf } = await import('./progress.ts');
    const argument = typed.argument === undefined ? '' : (given[0] as string | readonly string[]);
    const flags = given[typed.argument === undefined ? 0 : 1] as OperatorFlags & Readonly<Record<string, unknown>>;
    const body = {
      ...Object.fromEntries(Object.keys(switches).map((name) => [name, flags[name] || undefined])),
      ...(await values?.(String(argument))),
    };
    const ids = [argument].flat();
    const found = await lookUp(terminal, flags, action, ids);
    const name = ids.length === 1 ? String(ids[0]) : `${ids.length} ${path.split('/')[1]}`;
    const question = found.some(isUnknown) ? undefined : action.ask?.({ name, grants: found[0]?.connections });
    const change = await confirmed(terminal, flags, question && `${question.text}\n${question.title}`);
    const progress = progressOf(terminal, `${verb} ${name}`);
    const replies: object[] = [];
    const lines: string[] = [];
    for (const [at, id] of ids.entries()) {
      const described = found[at];
      const isIdle = action.idle !== undefined && described !== undefined && action.applies?.(described) === false;
      const reply = isIdle ? undefined : await change<Reply>(fillPath(path, { id }), body);
      replies.push(reply ?? { id, state: described?.state });
      lines.push(reply === undefined ? `${id} ${action.idle}\n` : lineOf(verb, id, reply));
      progress.at(replies.length, ids.length);
    }
    progress.done();
    if (print !== undefined) return print(flags, replies[0] as Reply);
    answer(terminal, flags, Array.isArray(argument) ? replies : replies[0], () => lines.join(''));
  });
}

/** Looks up what the ids name. Throws CommandFailure if nothing is known of one, and the action is not meant all the same. */
async function lookUp(
  terminal: Terminal,
  flags: OperatorFlags,
  { subject, anyway }: OperatorAction,
  ids: readonly string[],
): Promise<readonly Described[]> {
  if (subject === undefined) return [];
  const found: Described[] = [];
  const unknown: string[] = [];
  for (const id of ids) {
    const described = await get<Described>(terminal, flags, fillPath(subject.path, { id }));
    found.push(described);
    if (isUnknown(described)) unknown.push(id);
  }
  if (unknown.length > 0) await requireMeant(terminal, flags, subject, unknown, anyway);
  return found;
}

function lineOf(verb: string, id: string, reply: object): string {
  const done = `${verb}${verb.endsWith('e') ? 'd' : 'ed'} ${id}`;
  return 'ended' in reply ? `${done}: ${reply.ended} connections ended\n` : `${done}\n`;
}
