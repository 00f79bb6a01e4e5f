import { GatewayError } from '../../errors.ts';
import type { CallUpstream } from '../../upstream/request.ts';

/**
 * The error for a backend that could not say who is signed in, which must never be taken for "not signed in".
 * @param what - what it answered, for the log
 */
export function unusable(what: string): GatewayError {
  return new GatewayError('login_unavailable', { cause: new Error(`The backend answered ${what}.`) });
}

/** Calls the backend. Without a response sign-in is unavailable. */
export function askBackend(call: CallUpstream): CallUpstream {
  return (request) =>
    call(request).catch((thrown: unknown) => {
      throw new GatewayError('login_unavailable', { cause: thrown });
    });
}
