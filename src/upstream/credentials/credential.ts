import type { SessionOver } from '../../oauth/challenge.ts';
import type { Principal } from '../../oauth/principal.ts';

/**
 * What a backend already understands, sent to it instead of our identity headers. One per upstream that is configured
 * for it. It is only sent with requests from apps.
 */
export interface Credential {
  /**
   * Returns what to send a request with; NOTHING for a principal that it has nothing for. Throws GatewayError if the
   * credential is not available: that never turns a request into an anonymous one.
   * @param before the previous attempt, which the upstream refused
   */
  attempt(principal: Principal, method: string, before?: CallAttempt): Promise<CallAttempt | SessionOver> | CallAttempt;
}

export interface CallAttempt {
  /** How many times the request has been sent, including this one. Omitted: once. */
  readonly nth?: number;
  /** Header fields, by name. */
  readonly fields: Readonly<Record<string, string>>;
  /** A query parameter and its value. It replaces any other parameter of that name. */
  readonly query?: { readonly name: string; readonly value: string };
  /**
   * Inspects a response, given its status and raw fields, before any of it is passed on. Returns `again` if the
   * upstream refused the request without processing it, so that it may be sent once more with another attempt. Unless
   * it returns `deliver`, the response is not for the client. Throws GatewayError.
   */
  readonly inspect?: (status: number, raw: readonly string[]) => Disposition | Promise<Disposition>;
}

export type Disposition = 'deliver' | 'again' | SessionOver;

/** Looks up the credential of an upstream by the upstream's name; undefined if it has none. */
export type CredentialOf = (upstream: string) => Credential | undefined;

export const NO_CREDENTIALS: CredentialOf = () => undefined;

/** For a principal that the credential has nothing for. */
export const NOTHING: CallAttempt = { fields: {} };

/**
 * A secret as a field value, with the configured scheme before it. Without one, `Bearer` is used for Authorization
 * only.
 */
export function fieldValue(header: string, scheme: string | undefined, secret: string): string {
  const word = scheme ?? (header.toLowerCase() === 'authorization' ? 'Bearer' : '');
  return word === '' ? secret : `${word} ${secret}`;
}
