/**
 * Subjects are used in headers, tokens and paths of other systems, so they are short and contain only printable text.
 */
const SUBJECT = /^[^\p{Cc}\p{Cf}\s](?:[^\p{Cc}\p{Cf}]{0,253}[^\p{Cc}\p{Cf}\s])?$/u;

/** The replacement character for bytes that are not UTF-8: ids that differ only in such bytes would become equal. */
const LOST = '\ufffd';

/**
 * Whether a value can be used as a member id. `0` cannot: systems with numeric ids use it for "not signed in", so all
 * anonymous visitors would become one member.
 */
export function isSubject(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    SUBJECT.test(value) &&
    value.isWellFormed() &&
    !value.includes(LOST) &&
    !/^-?0+$/.test(value)
  );
}
