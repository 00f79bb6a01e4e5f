import type { IncomingHttpHeaders } from 'node:http';

/** A member as the login backend names them. `sub` is opaque: compared byte for byte, never normalised. */
export interface Member {
  readonly sub: string;
  readonly email: string | undefined;
  readonly name: string | undefined;
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
  /** Where to send a browser to sign in. In: the absolute URL to come back to. Out: an absolute URL. */
  signInUrl(returnTo: URL): URL;
}
