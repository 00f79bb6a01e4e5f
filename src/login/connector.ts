import type { IncomingHttpHeaders } from 'node:http';
import type { Provenance } from '../http/provenance.ts';
import type { MemberDetails } from '../oauth/member-details.ts';

/** A member as identified by the login backend. `sub` is opaque: compared byte for byte, never normalised. */
export interface Member extends MemberDetails {
  readonly sub: string;
  /** Whether the backend has verified the email; undefined if it does not say. */
  readonly emailVerified?: boolean | undefined;
  /** The custom claims that are read from the response of the backend, by name. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** When and how the member signed in at the backend, if known: Unix seconds, and an OpenID Connect acr value. */
  readonly authTime: number | undefined;
  readonly acr: string | undefined;
  /**
   * Opaque. A changed value ends all connections the member made before, such as after a new password or a suspension.
   * Undefined if the backend provides none.
   */
  readonly version: string | undefined;
  /**
   * What the member typed as their login, for a login that needs it to find them again. `standing.ts` keeps it; it is in
   * no other record.
   */
  readonly login?: string | undefined;
  /** The site's cookies that were handed over (hand-over.ts). They are in the sign-in session and in no other record. */
  readonly cookies?: string | undefined;
}

/** What an app or the member requests of the sign-in (OpenID Connect Core section 3.1.2.1). */
export interface SignInWish {
  readonly loginHint: string | undefined;
  /** Languages in order of preference (BCP 47), separated by spaces, as sent by the app. */
  readonly uiLocales: string | undefined;
  /** The member chose to sign in with another account. */
  readonly another?: boolean;
  /** prompt=login: requires a new sign-in instead of an existing session. */
  readonly fresh?: boolean;
  /** max_age: the most seconds since the sign-in. */
  readonly maxAge?: number | undefined;
  /** Requested acr values in order of preference, separated by spaces. */
  readonly acrValues?: string | undefined;
}

/**
 * How members sign in with their existing login. The authorization server asks which member a browser belongs to, and
 * where to send it to sign in. It never depends on how the login works.
 */
export interface LoginConnector {
  /**
   * Whether it can know when a member signed in. If false, no member has an `authTime`, and sending a member to sign in
   * again cannot be told from a visit to the sign-in page.
   */
  readonly knowsAuthTime: boolean;
  /**
   * The member who is signed in at the backend in the browser that sent these headers, or undefined if no one is. `from`
   * says whether a trusted proxy sent the request.
   *
   * @throws {GatewayError} `login_unavailable` when the backend cannot say, which never means "no one"
   */
  identify(headers: IncomingHttpHeaders, from: Pick<Provenance, 'trusted'>): Promise<Member | undefined>;
  /** Called when the browser that sent these headers comes back from the sign-in page and no one is signed in. */
  cameBackAnonymous?(headers: IncomingHttpHeaders): void;
  /** Where to send a browser to sign in. `returnTo` is the absolute URL to return to. */
  signInUrl(returnTo: URL, wish: SignInWish): URL;
  /**
   * Ends the sign-in that the gate itself holds for the browser, and returns the Set-Cookie fields for it. Undefined if
   * the sign-in is a session of the site or of a proxy.
   */
  readonly signOut?: ((headers: IncomingHttpHeaders) => Promise<readonly string[]>) | undefined;
  /** The cookies of the site that belong to the browser, where they are not in the Cookie field that it sends. */
  siteCookies?(headers: IncomingHttpHeaders): Promise<string>;
}

/** How a member's session at the site gets to pages at another host. */
export interface HandOver extends Pick<LoginConnector, 'knowsAuthTime' | 'cameBackAnonymous'> {
  /** The site's sign-in page, from which the browser comes back to the hand-over of the sign-in with this state. */
  signInUrl(state: string, wish: Omit<SignInWish, 'uiLocales'>): URL;
  /**
   * Keeps the cookies of the signed-in member for that sign-in. Returns the id that its callback takes once, or
   * undefined if no one is signed in.
   *
   * @throws {GatewayError} `login_unavailable`
   */
  keep(headers: IncomingHttpHeaders, state: string): Promise<string | undefined>;
  /**
   * Asks who is signed in now. `kept` is the member in the sign-in session.
   *
   * @throws {GatewayError} `login_unavailable`
   */
  again(kept: Member): Promise<Member | undefined>;
}

/** A login has one of three shapes. Each login only implements how the member is identified. */
export type Login =
  /** The request itself identifies the member: by a cookie of the backend or a header of a proxy in front of the gate. */
  | { readonly shape: 'ambient'; readonly connector: LoginConnector }
  | {
      readonly shape: 'credentials';
      readonly check: CredentialCheck;
      /** Set if the login itself knows whether a member still exists. */
      readonly recheck?: Recheck;
      /** Closes its connections. */
      close?(): Promise<void>;
    }
  | { readonly shape: 'redirect'; readonly providers: readonly SignInProvider[]; readonly handOver?: HandOver };

/** What a member enters on coursegate's sign-in page. Never logged or shown again; the password is not stored either. */
interface Credentials {
  readonly username: string;
  readonly password: string;
  /** The client's address, for a backend that limits attempts itself. */
  readonly address: string;
}

/**
 * Checks credentials. Returns the member, or why not: `wrong` neither says nor shows by its timing whether the member
 * exists.
 *
 * @throws {GatewayError} `login_unavailable` when the backend fails, which is never reported as a wrong password
 */
export type CredentialCheck = (given: Credentials) => Promise<CredentialVerdict>;

export type CredentialVerdict =
  | { readonly kind: 'member'; readonly member: Member }
  | { readonly kind: 'wrong' }
  /** The credentials are right, but the site no longer lets the member with this id sign in. */
  | { readonly kind: 'suspended'; readonly sub: string }
  /** The backend accepts no more attempts for this many seconds. */
  | { readonly kind: 'slow_down'; readonly retryAfter: number };

/** An external sign-in: the browser is sent there and returns with a proof. */
export interface SignInProvider {
  /** A path segment. Each provider has its own callback, so that responses of providers cannot be mixed up. */
  readonly id: string;
  /** The label of the button, if there are several providers. */
  readonly name: string;
  /**
   * Begins a sign-in with a fresh, unguessable `state`. Returns where to send the browser, and what to keep on our side
   * until it returns.
   *
   * @throws {GatewayError} `login_unavailable`
   */
  begin(start: { readonly state: string; readonly callback: URL; readonly wish: SignInWish }): Promise<SignInStart>;
  /** The `state` in a callback; undefined if there is none, or if it is not authentic. */
  stateOf(query: URLSearchParams): string | undefined;
  /**
   * Finishes a sign-in: returns the member, or undefined if they cancelled. `kept` is what `begin` returned to keep.
   *
   * @throws {GatewayError} `invalid_request` for an invalid proof, `forbidden` for an account that may not sign in, or
   * `login_unavailable`
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

/** What the backend says about a member in their absence, without a cookie. */
export type Standing =
  | { readonly kind: 'good' /** As in Member. */; readonly version: string | undefined }
  /** The member no longer exists. */
  | { readonly kind: 'gone' }
  /** The member exists but may not use the service. */
  | { readonly kind: 'inactive' };

/**
 * Asks the backend, server to server, whether the member with this id still exists. `login` is what `Member.login` was at
 * the last sign-in.
 *
 * @throws {GatewayError} `login_unavailable` when the backend cannot say, which never means "gone"
 */
export type Recheck = (sub: string, login?: string | undefined) => Promise<Standing>;
