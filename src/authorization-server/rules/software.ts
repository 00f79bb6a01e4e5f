/** RFC 7591 §2 `software_id` and `software_version`: words of the author's choosing, told back and compared by nobody. */
export function softwareProblem(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/.test(value)
    ? undefined
    : 'must be at most 128 characters of ASCII';
}
