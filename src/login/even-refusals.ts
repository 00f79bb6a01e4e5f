import { setTimeout as sleep } from 'node:timers/promises';
import type { CredentialCheck } from './connector.ts';

/**
 * Wraps a check so that refusals come at multiples of a number of seconds. A backend that hashes nothing for an unknown
 * login responds faster, and the response time must not reveal that. Successful sign-ins are not delayed.
 */
export function evenRefusals(
  check: CredentialCheck,
  seconds: number,
  { now = () => performance.now(), wait = (milliseconds: number): Promise<unknown> => sleep(milliseconds) } = {},
): CredentialCheck {
  if (seconds === 0) return check;
  return async (given) => {
    const began = now();
    const verdict = await check(given);
    if (verdict.kind === 'member') return verdict;
    const step = seconds * 1000;
    const elapsed = now() - began;
    await wait(Math.ceil(elapsed / step) * step - elapsed);
    return verdict;
  };
}
