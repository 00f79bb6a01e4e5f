import { setTimeout as sleep } from 'node:timers/promises';
import { timeOver, Unavailable } from './unavailable.ts';

/** The longest Retry-After that the doctor waits for, in seconds. */
const LONGEST_WAIT = 5;

/**
 * Waits as an answer with 429 asks for (RFC 6585 section 4): a rate limit says nothing about the check. Throws Unavailable
 * if that is too long, or the time for the audit is over.
 * @param who - such as `the site`
 * @param later - the value of Retry-After, or ''
 */
export async function waitForLimit(who: string, later: string, signal: AbortSignal): Promise<void> {
  const seconds = Number(later || 1);
  if (!(seconds <= LONGEST_WAIT)) throw limited(who, later);
  await sleep(Math.max(seconds, 0) * 1000, undefined, { signal }).catch(() => {
    throw timeOver();
  });
}

/** For what was answered with 429, even after a wait. */
export function limited(who: string, later: string): Unavailable {
  return new Unavailable(`${who} limits requests (429${later === '' ? '' : `, retry after ${later} seconds`})`);
}
