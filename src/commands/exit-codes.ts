import type { Command } from 'commander';

/** Exit codes, from sysexits.h where it defines one. Each has one meaning for all commands. */
export const EXIT = {
  ok: 0,
  failure: 1,
  /** Nothing was done or found: a question was declined or not answered, or there was nothing to look at. */
  unanswered: 2,
  usage: 64,
  /** Something the command needs, such as a running gate, is unavailable. */
  unavailable: 69,
  config: 78,
  /** 128 and the number of SIGINT, as shells report it. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The meaning of each code, for the help, the man page and the reference. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  [EXIT.ok]: 'success',
  [EXIT.failure]: 'failed',
  [EXIT.unanswered]: 'nothing was changed or found: the answer was no, or there is no such thing',
  [EXIT.usage]: 'wrong arguments',
  [EXIT.unavailable]: 'no answer from the gate, the backend or the site',
  [EXIT.config]: 'mistake in the configuration',
  [EXIT.interrupted]: 'interrupted with Ctrl-C',
};

/** What codes mean for one command where that says more than EXIT_MEANINGS. */
export type ExitNotes = Readonly<Partial<Record<ExitCode, string>>>;

const NOTES = new WeakMap<Command, ExitNotes>();

export function noteExits(command: Command, notes: ExitNotes): void {
  NOTES.set(command, { ...NOTES.get(command), ...notes });
}

/** The codes that a command can exit with, in order, each with its meaning. None for a group of subcommands. */
export function exitCodesOf(command: Command): readonly (readonly [code: ExitCode, meaning: string])[] {
  if (command.commands.length > 0) return [];
  const has = (long: string) => command.options.some((option) => option.long === long);
  const meanings: ExitNotes = {
    [EXIT.ok]: EXIT_MEANINGS[EXIT.ok],
    [EXIT.failure]: EXIT_MEANINGS[EXIT.failure],
    [EXIT.usage]: EXIT_MEANINGS[EXIT.usage],
    ...(has('--admin') ? { [EXIT.unavailable]: 'no gate answers' } : {}),
    ...(has('--config') ? { [EXIT.config]: EXIT_MEANINGS[EXIT.config] } : {}),
    ...NOTES.get(command),
  };
  return Object.entries(meanings).map(([code, meaning]) => [Number(code) as ExitCode, meaning]);
}
