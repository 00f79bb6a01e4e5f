import type { Principal } from '../../oauth/principal.ts';

/**
 * What a backend knows already, and is shown in place of an identity of ours. One for each upstream that is configured
 * for it; it goes with requests of apps and with nothing else.
 */
export interface Credential {
  /**
   * What a request is sent with. In: who it is for, its method, and the attempt before this one, which the upstream did
   * not take. Out: nothing at all for a principal it has nothing for. Throws GatewayError: `session_over`, or that the
   * credential cannot be had, which never makes a request anonymous.
   */
  attempt(principal: Principal, method: string, before?: Attempt): Promise<Attempt> | Attempt;
}

export interface Attempt {
  /** How many times the request has been sent, this one counted. Left out, once. */
  readonly nth?: number;
  /** Header fields, by name. */
  readonly fields: Readonly<Record<string, string>>;
  /** A query parameter and its value, which stands in for any of that name. */
  readonly query?: { readonly name: string; readonly value: string };
  /**
   * Looks at an answer before anything of it is passed on. In: its status and raw fields. Out: `again` when the request
   * may be sent once more, with another attempt: the upstream has refused it unread. Throws GatewayError.
   */
  readonly judge?: (status: number, raw: readonly string[]) => Disposition | Promise<Disposition>;
}

export type Disposition = 'deliver' | 'again';

/** The credential of an upstream, by its name; undefined for one that has none. */
export type Credentials = (upstream: string) => Credential | undefined;

export const NO_CREDENTIALS: Credentials = () => undefined;

/** For a principal that there is nothing for. */
export const NOTHING: Attempt = { fields: {} };

/** A secret as the value of a field. In: the word before it, as configured, and the field's name. */
export function fieldValue(header: string, scheme: string | undefined, secret: string): string {
  const word = scheme ?? (header.toLowerCase() === 'authorization' ? 'Bearer' : '');
  return word === '' ? secret : `${word} ${secret}`;
}
