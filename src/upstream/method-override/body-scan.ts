import { GatewayError } from '../../errors.ts';

/**
 * Called for each method that a request asks for by a parameter, undefined when that cannot be told. Throws
 * GatewayError `method_override` when no route admits the request with it.
 */
export type OverrideCheck = (method: string | undefined) => void;

/** Looks for method overrides in a body while it passes; keeps a few kilobytes of it at most. */
export interface BodyScan {
  /** Takes the next bytes. Throws GatewayError `method_override`, or `invalid_request` for a body it cannot read. */
  push(chunk: Buffer): void;
  /** Takes the end of the body. Throws as `push`. */
  end(): void;
  /** Whether an override may have begun whose method is not known yet: what was taken so far must be held back. */
  undecided(): boolean;
}

/** Two servers could read such a body differently, so it does not reach the backend. */
export function unreadable(what: string): GatewayError {
  return new GatewayError('invalid_request', {
    message: `The request body cannot be checked for a method override: ${what}.`,
    headers: { connection: 'close' },
  });
}
