/** A failure worded for the operator, in one sentence. The cause is for debugging only. */
export class ConnectError extends Error {
  /** What to try next, in one sentence. */
  readonly advice: string;

  constructor(message: string, advice: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ConnectError';
    this.advice = advice;
  }
}
