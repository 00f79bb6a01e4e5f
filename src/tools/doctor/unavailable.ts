/** Thrown when something cannot be examined. The check is skipped with this message. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** Thrown when a server did not answer, or not in HTTP. The message is worded for the operator. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}
