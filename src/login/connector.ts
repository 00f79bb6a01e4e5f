import type { IncomingHttpHeaders } from 'node:http';
import type { Provenance } from '../http/provenance.ts';
import type { Recheck } from './recheck.ts';

/** A member as the login backend names them. `sub` is opaque: compared byte for byte, never normalised. */
export interface Member {
  readonly sub: string;
  readonly email: string | undefined;
  readonly name: string | undefined;
  /** When and how they signed in at the backend, where it says so: Unix seconds, and an OpenID Connect acr value. */
  readonly authTime: number | undefined;
  readonly acr: string | undefined;
  /**
   * Opaque; when it is another than last time, all that the member let in before must end: a new password, a
   * suspension. Undefined: the backend tells none.
   */
  readonly version: string | undefined;
}

/** What an app, or the member, asks of the sign-in (OpenID Connect Core §3.1.2.1). */
export interface SignInWish {
  readonly loginHint: string | undefined;
  /** Languages in the order of preference (BCP 47), separated by spaces, as the app sent them. */
  readonly uiLocales: string | undefined;
  /** The member said that it is not they who are signed in. */
  readonly another?: boolean;
  /** prompt=login: a sign-in of now, not one that was made before. */
  readonly fresh?: boolean;
  /** Seconds that may have passed since they signed in. */
  readonly maxAge?: number | undefined;
  /** How they are to sign in: acr values in the order of preference, separated by spaces. */
  readonly acrValues?: string | undefined;
}

/**
 * How members sign in with the login they already have. The authorization server asks who a browser belongs to, and
 * where to send it to find out; it never sees how.
 */
export interface LoginConnector {
  /**
   * Who is signed in at the backend in the browser that sent these headers. Out: the member, or undefined when nobody
   * is. Throws GatewayError `login_unavailable` when the backend cannot tell: that is never "nobody". In: also whether a
   * trusted proxy brought them.
   */
  identify(headers: IncomingHttpHeaders, from: Pick<Provenance, 'trusted'>): Promise<Member | undefined>;
  /** Where to send a browser to sign in. In: the absolute URL to come back to, and what is asked. */
  signInUrl(returnTo: URL, wish: SignInWish): URL;
}

/** One way to sign in, of one of three shapes. What is left to each is only how it finds out who somebody is. */
export type Login =
  /** The browser itself shows who is signed in: a cookie of the backend, a header of a proxy in front of us. */
  | { readonly shape: 'ambient'; readonly connector: LoginConnector }
  | {
      readonly shape: 'credentials';
      readonly check: CredentialCheck;
      /** Where it knows by itself who is still a member. */
      readonly recheck?: Recheck;
      /** Ends what it keeps open. */
      close?(): Promise<void>;
    }
  | { readonly shape: 'redirect'; readonly providers: readonly SignInProvider[] };

/** What a member types on our own sign-in page. Neither is ever logged, stored or shown again. */
interface Credentials {
  readonly username: string;
  readonly password: string;
  /** The client's address, for a backend that counts attempts itself. */
  readonly address: string;
}

/**
 * Whose credentials these are. Out: the member, or why not: `wrong` does not say whether there is such a member, and takes
 * as long either way. Throws GatewayError `login_unavailable`: an ill backend is never a wrong password.
 */
export type CredentialCheck = (given: Credentials) => Promise<CredentialVerdict>;

export type CredentialVerdict =
  | { readonly kind: 'member'; readonly member: Member }
  | { readonly kind: 'wrong' }
  /** The backend wants no more attempts for so many seconds. */
  | { readonly kind: 'slow_down'; readonly retryAfter: number };

/** Where a browser is sent to sign in, and comes back from with a proof. */
export interface SignInProvider {
  /** A path segment: every provider has a callback of its own, so that the answer of one is never taken for another's. */
  readonly id: string;
  /** What the member reads on the button, when there are several. */
  readonly name: string;
  /**
   * Begins a sign-in. In: a fresh unguessable `state`, the callback, and what is asked. Out: where to send the browser, and
   * what must be known when it comes back (kept at our side). Throws GatewayError `login_unavailable`.
   */
  begin(start: { readonly state: string; readonly callback: URL; readonly wish: SignInWish }): Promise<SignInStart>;
  /** Out: the `state` that a callback carries; undefined when it carries none that was made by whom it should be. */
  stateOf(query: URLSearchParams): string | undefined;
  /**
   * Who signed in. In: the query of the callback, the callback, and what `begin` wanted kept. Out: undefined when they did
   * not (they cancelled). Throws GatewayError `invalid_request` for a proof that does not hold, `forbidden` for an account
   * that is not let in, or `login_unavailable`.
   */
  finish(end: {
    readonly query: URLSearchParams;
    readonly callback: URL;
    readonly kept: string;
  }): Promise<Member | undefined>;
}

interface SignInStart {
  readonly url: URL;
  readonly kept: string;
}
