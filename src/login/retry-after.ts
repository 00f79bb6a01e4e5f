const DEFAULT = 60;
const LONGEST = 3600;

/**
 * Parses a Retry-After header (RFC 9110 section 10.2.3) in seconds, limited to between 1 and one hour. `otherwise` is the
 * default for a missing or unusable value.
 */
export function retryAfter(field: string | undefined, otherwise = DEFAULT): number {
  const given = /^\d{1,9}$/.test(field ?? '') ? Number(field) : otherwise;
  return Math.min(LONGEST, Math.max(1, Math.ceil(given)));
}
