import type { Command } from 'commander';
import type { OperatorAction } from '../actions/action.ts';
import { fillPath } from '../actions/fill-path.ts';
import { type Described, isUnknown } from '../actions/subject.ts';
import { answer, changing, confirmed, get, type OperatorFlags, requireMeant } from './operator.ts';
import type { Terminal } from './terminal.ts';

interface ActionReply {
  readonly ended?: number;
}

export interface ActionCommandOptions<Reply> {
  /** The values of the body, read from the argument. Without it, the argument is the id, or several. */
  readonly values?: (argument: string) => Promise<object>;
  /** Prints the reply to an action on one id. By default it is a line with the verb, the id and the grants ended. */
  readonly print?: (flags: OperatorFlags, reply: Reply) => void;
}

/** Adds the subcommand of an action, if it has one. */
export function actionCommand<Reply extends object = ActionReply>(
  parent: Command,
  terminal: Terminal,
  action: OperatorAction,
  { values, print }: ActionCommandOptions<Reply> = {},
): void {
  const { command: typed, switches = {} } = action;
  if (typed === undefined) return;
  const { argument } = typed;
  const [, verb = ''] = action.id.split('.');
  const command = changing(parent, verb, typed.description, ...typed.examples);
  if (argument !== undefined) command.argument(...argument);
  for (const [name, help] of Object.entries(switches)) command.option(`--${name}`, help, false);
  command.action(async (...given: readonly unknown[]) => {
    const flags = given[argument === undefined ? 0 : 1] as OperatorFlags & Readonly<Record<string, unknown>>;
    const ids = argument === undefined || values !== undefined ? [''] : ([given[0]].flat() as string[]);
    const on = Object.keys(switches).filter((name) => flags[name] === true);
    const body = { ...Object.fromEntries(on.map((name) => [name, true])), ...(await values?.(String(given[0]))) };
    const done = await act<Reply>(terminal, flags, action, ids, body);
    const [first] = done;
    if (print !== undefined && first?.reply !== undefined) return print(flags, first.reply);
    const replies = done.map(({ id, state, reply }) => reply ?? { id, state });
    answer(terminal, flags, Array.isArray(given[0]) ? replies : replies[0], () =>
      done
        .map(({ id, reply }) => `${reply === undefined ? `${id} ${action.idle}` : lineOf(verb, id, reply)}\n`)
        .join(''),
    );
  });
}

interface Done<Reply> {
  readonly id: string;
  readonly state: string | undefined;
  /** Undefined where there was nothing to do. */
  readonly reply: Reply | undefined;
}

/** Looks the ids up, asks, and sends the action for each. Throws CommandFailure when it is declined or an id is unknown. */
async function act<Reply>(
  terminal: Terminal,
  flags: OperatorFlags,
  action: OperatorAction,
  ids: readonly string[],
  body: object,
): Promise<readonly Done<Reply>[]> {
  const { progressOf } = await import('./progress.ts');
  const { subject, path = '' } = action;
  const [kind, verb] = action.id.split('.');
  const found = new Map<string, Described>();
  if (subject !== undefined)
    for (const id of ids) found.set(id, await get(terminal, flags, `${subject.path}/${encodeURIComponent(id)}`));
  const strangers = [...found].filter(([, described]) => isUnknown(described)).map(([id]) => id);
  if (subject !== undefined && strangers.length > 0)
    await requireMeant(terminal, flags, {
      message: subject.unknown(strangers),
      question: action.anyway,
      list: subject.list,
    });
  const [id = ''] = ids;
  const name = ids.length === 1 ? id : `${ids.length} ${kind}`;
  const question = strangers.length > 0 ? undefined : action.ask?.({ name, grants: found.get(id)?.connections });
  const change = await confirmed(terminal, flags, question && `${question.text}\n${question.title}`);
  const progress = progressOf(terminal, `${verb} ${name}`);
  const done: Done<Reply>[] = [];
  for (const id of ids) {
    const described = found.get(id);
    const isIdle = action.idle !== undefined && described !== undefined && action.applies?.(described) === false;
    const reply = isIdle ? undefined : await change<Reply>(fillPath(path, { id }), body);
    done.push({ id, state: described?.state, reply });
    progress.at(done.length, ids.length);
  }
  progress.done();
  return done;
}

function lineOf(verb: string, id: string, { ended }: ActionReply): string {
  return `${verb}${verb.endsWith('e') ? 'd' : 'ed'} ${id}${ended === undefined ? '' : `: ${ended} connections ended`}`;
}
