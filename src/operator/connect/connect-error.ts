/**
 * Why a connection failed: a step failed, the site does not answer, the address is unusable, the member declined or did
 * not come back, or the operator pressed Ctrl-C.
 */
export type ConnectEnd = 'failed' | 'unreachable' | 'misused' | 'declined' | 'interrupted';

/** A failure worded for the operator, in one sentence. The cause is for debugging only. */
export class ConnectError extends Error {
  /** What to try next, in one sentence; '' if there is nothing to add. */
  readonly advice: string;
  readonly end: ConnectEnd;

  constructor(message: string, advice: string, { end = 'failed', cause }: { end?: ConnectEnd; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ConnectError';
    this.advice = advice;
    this.end = end;
  }
}

/** No complete response to a request. The cause is the error of the connection. */
export class NoResponse extends Error {
  override readonly name = 'NoResponse';

  constructor(cause: unknown) {
    super('no complete response', { cause });
  }
}
