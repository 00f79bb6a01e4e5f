const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Waits between attempts at an event that is refused, as proposed by Standard Webhooks: about three days in total. */
const OF_EVENT = [5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

/** Waits between attempts while the backend does not answer. Short, so that events arrive soon after it is back. */
const OF_BACKEND = [5000, 30_000, 2 * MINUTE, 5 * MINUTE];

/** The limit for Retry-After. */
const LONGEST = 24 * HOUR;

/** The random part added to each wait, so that gates do not retry at the same moment. */
const JITTER = 0.2;

/**
 * Milliseconds to wait after `failures` (from 1) consecutive failures. `now` is in milliseconds, `random` from 0 to
 * below 1.
 */
export type Wait = (failures: number, retryAfter: string | undefined, now: number, random: number) => number;

export const waitForEvent: Wait = wait(OF_EVENT);

export const waitForBackend: Wait = wait(OF_BACKEND);

function wait(steps: readonly number[]): Wait {
  return (failures, retryAfter, now, random) => {
    const step = steps[Math.min(failures, steps.length) - 1] ?? 0;
    return Math.max(Math.round(step * (1 + JITTER * random)), Math.min(requested(retryAfter, now), LONGEST));
  };
}

/** Parses Retry-After, seconds or a date (RFC 9110 section 10.2.3), into milliseconds. */
function requested(field: string | undefined, now: number): number {
  if (field === undefined) return 0;
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1000;
  const date = Date.parse(field);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}
