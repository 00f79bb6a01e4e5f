/** A failure told to a person: what happened in one sentence, and what to try next. The cause is for debugging only. */
export class ConnectError extends Error {
  /** What to try next, in one sentence. */
  readonly advice: string;

  constructor(message: string, advice: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ConnectError';
    this.advice = advice;
  }
}
