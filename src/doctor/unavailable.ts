/** Thrown where something cannot be looked at; the check is skipped, and the message says why. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** Thrown where a server gave no answer, or none that is HTTP; the message says it in words for a person. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}
