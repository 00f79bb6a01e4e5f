const DEFAULT = 60;
const LONGEST = 3600;

/** In: a Retry-After field (RFC 9110 §10.2.3), if there was one. Out: seconds, from 1 to an hour; a minute when it says none. */
export function retryAfter(field: string | undefined): number {
  return /^\d{1,9}$/.test(field ?? '') ? Math.min(LONGEST, Math.max(1, Number(field))) : DEFAULT;
}
