import type { Rate } from '../storage/counters.ts';

/** The kind of limit, as clients see it. */
export type LimitName = 'address' | 'member' | 'client' | 'attempts';

/**
 * RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10 section 3): requests per window, and the window in seconds.
 */
export function policyField(name: LimitName, { requests, per }: Rate): string {
  return `"${name}";q=${requests};w=${Math.ceil(per)}`;
}

/** RateLimit (section 4 of the draft): remaining requests, and seconds until the quota is reset. */
export function leftField(name: LimitName, left: number, milliseconds: number): string {
  return `"${name}";r=${Math.max(0, left)};t=${Math.max(0, Math.ceil(milliseconds / 1000))}`;
}
