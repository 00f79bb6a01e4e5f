import { setTimeout as sleep } from 'node:timers/promises';
import { field, type SiteAnswer } from './answer.ts';
import type { Ask } from './ask.ts';
import type { Registered } from './registrations.ts';
import { Unavailable } from './unavailable.ts';

/** The examined deployment, and how to send requests to it. */
export interface ExaminedSite {
  readonly origin: string;
  /** The path given by the operator, without a trailing slash; '' for the origin itself. */
  readonly path: string;
  /** Sends a request, and retries once after a 429. Throws Unavailable after a second 429. */
  readonly ask: Ask;
  /** Sends a request and returns any response, including a 429. */
  readonly askAsIs: Ask;
  /** When the certificate expires, in milliseconds since 1970; for https sites only. */
  readonly certificateEnd: () => Promise<number>;
  /** The plain http origin of the same host; undefined if the site itself uses plain http. */
  readonly plainOrigin: string | undefined;
  /** The clients registered for the audit; undefined when registering is not allowed. */
  readonly registered: Set<Registered> | undefined;
  /** Milliseconds since 1970, by this machine's clock. */
  readonly now: () => number;
}

/** The longest Retry-After that the doctor waits for, in seconds. */
const LONGEST_WAIT = 5;

/** Wraps `ask` to honour a 429 (RFC 6585 section 4): a rate limit says nothing about the check. */
export function patiently(ask: Ask, signal: AbortSignal): Ask {
  return async (url, question) => {
    const answer = await ask(url, question);
    if (answer.status !== 429) return answer;
    const seconds = Number(field(answer, 'retry-after') || 1);
    if (!(seconds <= LONGEST_WAIT)) throw tooMany(answer);
    await sleep(Math.max(seconds, 0) * 1000, undefined, { signal }).catch(() => {
      throw new Unavailable('the time for the audit was over');
    });
    const again = await ask(url, question);
    if (again.status === 429) throw tooMany(again);
    return again;
  };
}

function tooMany(answer: SiteAnswer): Unavailable {
  const later = field(answer, 'retry-after');
  const wait = later === '' ? '' : `, retry after ${later} seconds`;
  return new Unavailable(`the site limits requests (429${wait})`);
}
