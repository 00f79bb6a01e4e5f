const DEFAULT = 60;
const LONGEST = 3600;

/**
 * In: a Retry-After field (RFC 9110 §10.2.3), if there was one, and the seconds where it says none. Out: seconds, from 1
 * to an hour.
 */
export function retryAfter(field: string | undefined, otherwise = DEFAULT): number {
  const given = /^\d{1,9}$/.test(field ?? '') ? Number(field) : otherwise;
  return Math.min(LONGEST, Math.max(1, Math.ceil(given)));
}
