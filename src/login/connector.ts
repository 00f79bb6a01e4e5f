import type { IncomingHttpHeaders } from 'node:http';

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

/** What an app asked of the sign-in (OpenID Connect Core §3.1.2.1). */
interface SignInWish {
  readonly loginHint: string | undefined;
  /** Languages in the order of preference (BCP 47), separated by spaces, as the app sent them. */
  readonly uiLocales: string | undefined;
}

/**
 * How members sign in with the login they already have. The authorization server asks who a browser belongs to, and
 * where to send it to find out; it never sees how.
 */
export interface LoginConnector {
  /**
   * Who is signed in at the backend in the browser that sent these headers. Out: the member, or undefined when nobody
   * is. Throws GatewayError `login_unavailable` when the backend cannot tell: that is never "nobody".
   */
  identify(headers: IncomingHttpHeaders): Promise<Member | undefined>;
  /** Where to send a browser to sign in. In: the absolute URL to come back to, and what the app asked. */
  signInUrl(returnTo: URL, wish: SignInWish): URL;
}
