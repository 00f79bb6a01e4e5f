import { setTimeout as sleep } from 'node:timers/promises';
import type { CredentialCheck } from './connector.ts';

/** How time passes, in milliseconds. */
interface RefusalTime {
  now(): number;
  wait(milliseconds: number): Promise<unknown>;
}

/**
 * The same check, whose refusals come at multiples of so many seconds: a backend that looks a name up, and hashes nothing
 * when there is none, answers sooner for it, and that must not be seen from outside. Who is let in waits for nothing.
 */
export function evenRefusals(
  check: CredentialCheck,
  seconds: number,
  { now, wait }: RefusalTime = { now: () => performance.now(), wait: sleep },
): CredentialCheck {
  if (seconds === 0) return check;
  return async (given) => {
    const began = now();
    const verdict = await check(given);
    if (verdict.kind === 'member') return verdict;
    const step = seconds * 1000;
    const taken = now() - began;
    await wait(Math.ceil(taken / step) * step - taken);
    return verdict;
  };
}
