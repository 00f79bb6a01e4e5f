/**
 * Checks `software_id` and `software_version` (RFC 7591 section 2): text of the author's choice, which is returned but
 * never compared.
 */
export function softwareProblem(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/.test(value)
    ? undefined
    : 'must be at most 128 characters of ASCII';
}
