import { GatewayError } from '../../errors.ts';

/**
 * Called for each method that a parameter asks for; undefined if the method is unknown. Throws GatewayError
 * `method_override` if no route admits the request with that method.
 */
export type OverrideCheck = (method: string | undefined) => void;

/** Looks for method overrides in a body while it streams through; keeps a few kilobytes of it at most. */
export interface BodyScan {
  /**
   * Takes the next bytes. Throws GatewayError `method_override`, or `invalid_request` for a body that it cannot parse.
   */
  push(chunk: Buffer): void;
  /** Takes the end of the body. Throws as `push`. */
  end(): void;
  /** Whether an override may have begun whose method is not known yet: the bytes taken so far must be held back. */
  undecided(): boolean;
}

/** For a body that two servers could read differently and that must therefore not reach the backend. */
export function unreadable(what: string): GatewayError {
  return new GatewayError('invalid_request', {
    message: `The request body cannot be checked for a method override: ${what}.`,
    headers: { connection: 'close' },
  });
}
