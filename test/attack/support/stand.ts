import { readFileSync } from 'node:fs';
import type { Attempt, Expected } from './attempt.ts';
import type { Exchanged } from './exchange.ts';

/** A gate in a separate process, as the target of attempts. */
export interface Stand {
  readonly profile: string;
  readonly origin: string;
  readonly port: number;
  /** Makes one attempt. Returns the unmet expectations. */
  attempt(attempt: Attempt): Promise<readonly string[]>;
  /** Checks at the end of a family that the process is alive and has logged no internal failure. */
  settled(): readonly string[];
  close(): Promise<void>;
}

/** Attempts of one kind, generated from tables. */
export interface Family<S extends Stand> {
  readonly name: string;
  attempts(stand: S): readonly Attempt[] | Promise<readonly Attempt[]>;
  /** Further checks after all attempts. Returns the failures. */
  after?(stand: S): Promise<readonly string[]>;
}

/** Returns the differences between the responses and the expectation. */
export function judgeResponses({ received, statuses, closed }: Exchanged, expected: Expected): string[] {
  const flaws: string[] = [];
  const cutShort = expected.mayReset === true && statuses.length === expected.statuses.length - 1;
  const right =
    (cutShort || statuses.length === expected.statuses.length) &&
    expected.statuses.slice(0, statuses.length).every((one, at) => [one].flat().includes(statuses[at] ?? 0));
  if (!right) flaws.push(`answered ${JSON.stringify(statuses)} in place of ${JSON.stringify(expected.statuses)}`);
  if (!closed) flaws.push('the connection stayed open');
  if (expected.has !== undefined && !expected.has.test(received)) flaws.push(`lacks ${expected.has}`);
  if (expected.lacks?.test(received) === true) flaws.push(`has ${expected.lacks}`);
  // No internal error, and no internal details.
  if (/"(?:code|error)":"(?:internal|server_error)"|node_modules|\bat \S+\.ts:\d/.test(received)) {
    flaws.push('tells of an internal error');
  }
  return flaws;
}

/** Text that a log must never contain. */
export const OWN_FAULT = /"(?:failure|reason|code)":"internal"|uncaught failure|Unhandled|uncaughtException/;

/** Milliseconds of processor time that a process has used, in steps of 10. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
