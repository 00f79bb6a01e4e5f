/** A subject travels in headers, tokens and paths of other systems: bounded, and free of anything that is not text. */
const SUBJECT = /^[^\p{Cc}\p{Cf}\s](?:[^\p{Cc}\p{Cf}]{0,253}[^\p{Cc}\p{Cf}\s])?$/u;

/** What stands for bytes that are not UTF-8: two ids that differ only there would become one. */
const LOST = '\ufffd';

/**
 * Whether a value can be the id of a member, byte for byte. `0` cannot: it is nobody in every system that has numbers for
 * members, and taken as an id, all who are not signed in would be one.
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
