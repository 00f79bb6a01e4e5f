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
  /** The same of SIGPIPE. */
  unread: 141,
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
  [EXIT.unread]: 'the program that reads the output has ended',
};
