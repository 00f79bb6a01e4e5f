import type { Rate } from '../storage/counters.ts';

/** Which limit it is, as clients see it: never whose. */
export type LimitName = 'address' | 'member' | 'client' | 'attempts';

/** RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10 §3): how much in how many seconds. */
export function policyField(name: LimitName, { requests, per }: Rate): string {
  return `"${name}";q=${requests};w=${Math.ceil(per)}`;
}

/** RateLimit (§4): how much is left, and in how many seconds it is all there again. */
export function leftField(name: LimitName, left: number, milliseconds: number): string {
  return `"${name}";r=${Math.max(0, left)};t=${Math.max(0, Math.ceil(milliseconds / 1000))}`;
}
