import type { EventsState } from '../events/state.ts';
import { shellWord } from '../operator/shell-word.ts';
import { adminClient, asJson, firstLine, isForeign } from './admin-client.ts';
import { type Define, readConfig, subcommand } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CommandFailure } from './failure.ts';
import { asking, confirmed, gateOptions, type OperatorFlags } from './operator.ts';
import { schoolWords } from './school-option.ts';

export const define: Define = (command, terminal) => {
  const { say, tell } = terminal;
  subcommand(command, 'test').action(async ({ config: file, school }: { config: string; school?: string }) => {
    const { pingBackend } = await import('../events/ping.ts');
    const loaded = await readConfig(file, terminal, school);
    const pinged = await pingBackend(loaded);
    if (pinged === undefined) throw noEvents(file, school);
    const { upstream, path } = loaded.config.events ?? {};
    if (!pinged.taken) {
      throw new CommandFailure(`test.ping at ${path} of ${upstream}: ${pinged.detail}.`, {
        reason: pinged.answered ? 'Does the backend verify with the same secret?' : 'Is the backend running?',
        next: `coursegate check ${shellWord(file)}`,
        code: pinged.answered ? EXIT.failure : EXIT.unavailable,
      });
    }
    say(`test.ping at ${path} of ${upstream}: ${pinged.detail}.`);
  });

  asking(command, 'list').action(async ({ json, ...flags }: OperatorFlags) => {
    const gate = await adminClient(flags, terminal);
    const answer = await gate.ask('/events');
    const { status, text } = answer;
    const state = status === 200 ? asJson(text) : undefined;
    if (isForeign(answer) || (status === 200 && state === undefined)) throw gate.noGate(answer);
    if (status === 404) throw noEvents(flags.config, flags.school);
    if (status !== 200)
      throw new CommandFailure(`The gate cannot list its events: ${firstLine(text)}`, { code: EXIT.unavailable });
    if (json) return say(text.trim());
    const { pending, paused_until, stopped_at, last_failure, events } = state as EventsState;
    const { grant = 0, client = 0, refusal = 0 } = pending;
    tell(`${grant + client + refusal} pending: ${grant} for grants, ${client} for clients, ${refusal} for refusals.`);
    if (last_failure !== undefined) tell(`Last failed delivery at ${last_failure.at}: ${last_failure.reason}.`);
    if (paused_until !== undefined) tell(`Next attempt at ${paused_until}.`);
    if (stopped_at !== undefined) tell(`Stopped at ${stopped_at}, when the backend answered 410.`);
    for (const { id, type, timestamp, attempts, due_at } of events)
      say(
        [timestamp, type, id, `${attempts} attempts`, ...(due_at === undefined ? [] : [`next ${due_at}`])].join('  '),
      );
  });

  gateOptions(subcommand(command, 'retry')).action(async (flags: OperatorFlags) => {
    const change = await confirmed(terminal, flags, undefined);
    const { pending } = await change<{ pending: number }>('/events/retry');
    say(`Retrying ${pending} events.`);
  });
};

function noEvents(file: string | undefined, school: string | undefined): CommandFailure {
  return new CommandFailure('This configuration has no `events`, so nothing is sent to the backend.', {
    ...(file === undefined
      ? {}
      : { next: `coursegate config print --config ${shellWord(file)}${schoolWords(school)}` }),
  });
}
