import { readFileSync } from 'node:fs';
import type { Attempt, Expected } from './attempt.ts';
import type { Exchanged } from './exchange.ts';

/** A gate as a process of its own that attempts are made on. */
export interface Stand {
  readonly profile: string;
  readonly origin: string;
  readonly port: number;
  /** Makes one attempt. Returns what did not hold; empty when all did. */
  attempt(attempt: Attempt): Promise<readonly string[]>;
  /** What does not hold at the end of a family: the process lives, and has logged no failure of its own. */
  settled(): readonly string[];
  close(): Promise<void>;
}

/** Attempts of one kind, made from tables. */
export interface Family<S extends Stand> {
  readonly name: string;
  attempts(stand: S): readonly Attempt[] | Promise<readonly Attempt[]>;
  /** What does not hold after all attempts were made, beside what each was judged by. */
  after?(stand: S): Promise<readonly string[]>;
}

/** What of the responses is not as expected. */
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
  // No fault of the gate's own, and nothing of its insides.
  if (/"(?:code|error)":"(?:internal|server_error)"|node_modules|\bat \S+\.ts:\d/.test(received)) {
    flaws.push('tells of an internal error');
  }
  return flaws;
}

/** What a log must not have in it, whatever was sent. */
export const OWN_FAULT = /"(?:failure|reason|code)":"internal"|uncaught failure|Unhandled|uncaughtException/;

/** Milliseconds of computing that a process has used; the kernel counts in hundredths of a second. */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
