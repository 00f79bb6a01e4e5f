import { CommanderError } from 'commander';
import { ConfigError } from '../config/problems.ts';
import { type ConnectEnd, ConnectError } from '../operator/connect/connect-error.ts';
import { programName } from '../operator/program-name.ts';
import { shellWord } from '../operator/shell-word.ts';
import { UsageError } from '../operator/usage-error.ts';
import { StoreNotReady } from '../storage/open-failure.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';

interface FailureDetails {
  /** The command to try next, such as `coursegate doctor URL`, complete. By default, the help. */
  readonly next?: string;
  /** The cause, if the message does not state it. */
  readonly reason?: string;
  /** Exit code, 1 by default. */
  readonly code?: ExitCode;
  readonly cause?: unknown;
}

/** Why a command failed, worded for the operator. */
export class CommandFailure extends Error {
  readonly details: FailureDetails;

  constructor(message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'CommandFailure';
    this.details = details;
  }
}

/** A failure of how the command was typed. */
export function misused(message: string, details: FailureDetails = {}): CommandFailure {
  return new CommandFailure(message, { ...details, code: EXIT.usage });
}

/** The command line, as far as it could be parsed. */
export interface Typed {
  /** The command words, such as `coursegate keys rotate`. */
  readonly command: string;
  /** The value of --config. */
  readonly config: string | undefined;
  /** The first positional argument: for `coursegate check`, the configuration file. */
  readonly argument: string | undefined;
}

/** Suggested when the configuration file does not exist: the address is that of a site on this machine. */
const FIRST_RUN = 'coursegate init --upstream http://127.0.0.1:8000';

/** The exit code for each end of a connection, and the command to try next, if there is one. */
const CONNECT_ENDS: Readonly<Record<ConnectEnd, readonly [code: ExitCode, next: (site: string | undefined) => Next]>> =
  {
    failed: [EXIT.failure, (site) => site && `coursegate doctor ${site}`],
    unreachable: [EXIT.unavailable, () => 'coursegate connect --help'],
    misused: [EXIT.usage, () => 'coursegate connect --help'],
    declined: [EXIT.unanswered, (site) => site && `coursegate connect ${site}`],
    interrupted: [EXIT.interrupted, () => undefined],
  };
type Next = string | undefined;

interface Report {
  readonly text: string;
  readonly code: ExitCode;
}

/**
 * The one place that renders an error: what happened, why, and on the last line the command to try next, if there is
 * one, with the exit code. Undefined if nothing failed: commander throws after it has printed help or the version, too.
 */
export function describeFailure(thrown: unknown, typed: Typed): Report | undefined {
  if (thrown instanceof CommanderError) {
    if (thrown.exitCode === 0) return undefined;
    // A missing subcommand makes commander print the help, which is message enough.
    const message = thrown.code === 'commander.help' ? [] : [thrown.message.replace(/^error: /, '')];
    if (/unknown option '-[\w-]{20,}'$/.test(thrown.message))
      message.push('An id that begins with - goes last, after --');
    return report(message, `${typed.command} --help`, EXIT.usage);
  }
  const help = `${typed.command} --help`;
  if (thrown instanceof CommandFailure) {
    const { reason, next, code } = thrown.details;
    return report([thrown.message, reason ?? causeOf(thrown)], next ?? help, code ?? EXIT.failure);
  }
  if (thrown instanceof ConfigError) {
    const [first] = thrown.problems;
    const file = typed.config ?? typed.argument ?? 'FILE';
    // A file with mistakes has been checked already: the messages say what to do.
    const check = typed.command === 'coursegate check' ? undefined : `coursegate check ${shellWord(file)}`;
    const next = first?.line === 0 && first.file === file ? FIRST_RUN : check;
    return report([thrown.message], next, EXIT.config);
  }
  if (thrown instanceof UsageError) return report([thrown.message], help, EXIT.usage);
  if (thrown instanceof ConnectError) {
    const [code, next] = CONNECT_ENDS[thrown.end];
    return report([thrown.message, thrown.advice], next(typed.argument && shellWord(typed.argument)), code);
  }
  if (thrown instanceof StoreNotReady) return report([thrown.message], help, EXIT.unavailable);
  const port = portFailure(thrown, typed);
  if (port !== undefined) return port;
  if (!(thrown instanceof Error)) return report([String(thrown)], help, EXIT.failure);
  return report([thrown.message, causeOf(thrown)], help, EXIT.failure);
}

function report(lines: readonly (string | undefined)[], next: Next, code: ExitCode): Report {
  // In front of `coursegate` there may be a variable, such as PORT=8090.
  const command = next?.replace(/(?<=^|\s)coursegate(?= |$)/, programName());
  const all = [...lines, command && `Try: ${command}`];
  return { text: all.filter((line) => line !== undefined && line !== '').join('\n'), code };
}

function causeOf({ cause, message }: Error): string | undefined {
  return cause instanceof Error && !message.includes(cause.message) ? `Cause: ${cause.message}` : undefined;
}

function portFailure(thrown: unknown, { command, config }: Typed): Report | undefined {
  const { code, port } = Object(thrown) as { code?: unknown; port?: unknown };
  if (typeof port !== 'number') return undefined;
  const again = config === undefined ? command : `${command} --config ${shellWord(config)}`;
  if (code === 'EADDRINUSE') {
    const others = 'Stop the program that uses it, or set PORT, ADMIN_PORT, SCHOOL_PORT or CLIENT_PORT.';
    return report([`Port ${port} is in use. ${others}`], `PORT=8090 ${again}`, EXIT.failure);
  }
  if (code !== 'EACCES') return undefined;
  return report([`This user may not open port ${port}. Choose one above 1023.`], `PORT=8080 ${again}`, EXIT.failure);
}
