import { setTimeout as sleep } from 'node:timers/promises';
import { timeOver, Unavailable } from './unavailable.ts';

/** The longest Retry-After that the doctor waits for, in seconds. */
const LONGEST_WAIT = 5;

/**
 * Sends again, once, what was answered with 429 (RFC 6585 section 4), after the wait that the answer asks for: a rate limit
 * says nothing about the check. Throws Unavailable if that is too long, the second answer is a 429 too, or the time for the
 * audit is over.
 * @param who - such as `the site`
 * @param retryAfter - the value of Retry-After of a 429, or ''; undefined for any other answer
 */
export async function patiently<T>(
  who: string,
  signal: AbortSignal,
  send: () => Promise<T>,
  retryAfter: (answer: T) => string | undefined,
): Promise<T> {
  const limited = (later: string) =>
    new Unavailable(`${who} limits requests (429${later === '' ? '' : `, retry after ${later} seconds`})`);
  const first = await send();
  const later = retryAfter(first);
  if (later === undefined) return first;
  const seconds = Number(later || 1);
  if (!(seconds <= LONGEST_WAIT)) throw limited(later);
  await sleep(Math.max(seconds, 0) * 1000, undefined, { signal }).catch(() => {
    throw timeOver();
  });
  const second = await send();
  const still = retryAfter(second);
  if (still !== undefined) throw limited(still);
  return second;
}
