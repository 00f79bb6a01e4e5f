const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Between two attempts at one event that is not taken, as Standard Webhooks proposes: about three days in all. */
const OF_EVENT = [5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

/** Between two looks at a backend that does not answer: it is to have everything soon after it is back. */
const OF_BACKEND = [5000, 30_000, 2 * MINUTE, 5 * MINUTE];

/** A backend may ask for more time, not for ever. */
const LONGEST = 24 * HOUR;

/** Of each wait, so that many gates do not come back at the same moment. */
const JITTER = 0.2;

/**
 * In: how often it has failed in a row, from 1 on; a Retry-After field, if there was one; the time; a number from 0 to
 * below 1. Out: milliseconds to wait.
 */
export type Wait = (failures: number, retryAfter: string | undefined, now: number, random: number) => number;

export const waitForEvent: Wait = wait(OF_EVENT);

export const waitForBackend: Wait = wait(OF_BACKEND);

function wait(steps: readonly number[]): Wait {
  return (failures, retryAfter, now, random) => {
    const step = steps[Math.min(failures, steps.length) - 1] ?? 0;
    return Math.max(Math.round(step * (1 + JITTER * random)), Math.min(asked(retryAfter, now), LONGEST));
  };
}

/** RFC 9110 §10.2.3: seconds, or a date. Out: milliseconds. */
function asked(field: string | undefined, now: number): number {
  if (field === undefined) return 0;
  if (/^\d{1,9}$/.test(field)) return Number(field) * 1000;
  const date = Date.parse(field);
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}
