import { CommanderError } from 'commander';
import { ConfigError } from '../config/problems.ts';
import { ConnectError } from '../connect/connect-error.ts';

/** Exit codes: of sysexits.h where it has one. */
export const EXIT = {
  ok: 0,
  failure: 1,
  /** A question was answered with no, or not at all. */
  unanswered: 2,
  usage: 64,
  /** What the command needs, such as a running gate, is not there. */
  unavailable: 69,
  config: 78,
} as const;

export interface FailureOptions {
  /** The command to try next, as it is typed. */
  readonly next?: string;
  /** Why, where the message does not say it. */
  readonly reason?: string;
  /** Exit code; left out, 1. */
  readonly code?: number;
  readonly cause?: unknown;
}

/** What kept a command from its work, in words for whoever typed it. */
export class CommandFailure extends Error {
  readonly next: string | undefined;
  readonly reason: string | undefined;
  readonly code: number;

  constructor(message: string, { next, reason, code = EXIT.failure, cause }: FailureOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'CommandFailure';
    this.next = next;
    this.reason = reason;
    this.code = code;
  }
}

/** What was typed, as far as it was understood. */
export interface Typed {
  /** Its words, as `coursegate keys rotate`. */
  readonly command: string;
  /** The configuration file that it names. */
  readonly config: string | undefined;
  /** What stands behind the words: of `coursegate check` the configuration file. */
  readonly argument: string | undefined;
}

/** For who has no configuration, or names it wrongly. */
const FIRST_RUN = 'coursegate init --upstream http://127.0.0.1:8000   (it writes a configuration for your site)';

interface Told {
  readonly text: string;
  readonly code: number;
}

/**
 * The one place that renders an error. Out: what happened, why, and as the last line the command to try next; and the
 * exit code. Undefined: nothing failed, and what was asked for (help, the version) is printed already.
 */
export function describeFailure(thrown: unknown, typed: Typed): Told | undefined {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return undefined;
    // Without a subcommand the help is printed, which is the message.
    const message = thrown.code === 'commander.help' ? [] : [thrown.message.replace(/^error: /, '')];
    return told(message, `${typed.command} --help`, EXIT.usage);
  }
  const help = `${typed.command} --help`;
  if (thrown instanceof CommandFailure) {
    return told([thrown.message, thrown.reason ?? causeOf(thrown)], thrown.next ?? help, thrown.code);
  }
  if (thrown instanceof ConfigError) {
    const [first] = thrown.problems;
    const file = typed.config ?? typed.argument ?? 'FILE';
    const next = first?.line === 0 && first.file === file ? FIRST_RUN : `coursegate check ${file}`;
    return told([thrown.message], next, EXIT.config);
  }
  if (thrown instanceof ConnectError) return told([thrown.message, thrown.advice], help, EXIT.failure);
  const port = portFailure(thrown, typed);
  if (port !== undefined) return port;
  if (!(thrown instanceof Error)) return told([String(thrown)], help, EXIT.failure);
  return told([thrown.message, causeOf(thrown)], help, EXIT.failure);
}

function told(lines: readonly (string | undefined)[], next: string, code: number): Told {
  return { text: [...lines.filter((line) => line !== undefined), `Try: ${next}`].join('\n'), code };
}

function causeOf({ cause, message }: Error): string | undefined {
  return cause instanceof Error && !message.includes(cause.message) ? `Because: ${cause.message}` : undefined;
}

function portFailure(thrown: unknown, { command, config }: Typed): Told | undefined {
  const { code, port } = Object(thrown) as { code?: unknown; port?: unknown };
  if (typeof port !== 'number') return undefined;
  const again = config === undefined ? command : `${command} --config ${config}`;
  if (code === 'EADDRINUSE') {
    const others = 'Stop what runs there, or choose others: PORT, ADMIN_PORT, SCHOOL_PORT, CLIENT_PORT.';
    return told([`Port ${port} is in use. ${others}`], `PORT=8090 ${again}`, EXIT.failure);
  }
  if (code !== 'EACCES') return undefined;
  return told(
    [`Port ${port} may not be opened by this user. Choose one above 1023.`],
    `PORT=8080 ${again}`,
    EXIT.failure,
  );
}
