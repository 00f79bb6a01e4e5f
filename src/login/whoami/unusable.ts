import { GatewayError } from '../../errors.ts';

/** The backend could not say who is signed in: never "nobody". In: what it answered, for the log. */
export function unusable(what: string): GatewayError {
  return new GatewayError('login_unavailable', { cause: new Error(`The backend answered ${what}.`) });
}
