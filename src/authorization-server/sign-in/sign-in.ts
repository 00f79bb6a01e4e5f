import type { Handler } from '../../http/exchange.ts';
import { signInAttempts } from '../../login/attempts.ts';
import type { CredentialCheck, Login, LoginConnector, Member, SignInProvider } from '../../login/connector.ts';
import { type SignInSessions, signInSessions } from '../../login/sign-in-session.ts';
import type { Clock, Store } from '../../storage/store.ts';
import { ownCookie } from '../cookies.ts';
import type { CsrfKeys } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { Pages } from '../pages/pages.ts';
import { credentialDoors } from './credential-doors.ts';
import type { SignInEvents } from './events.ts';
import { redirectDoors } from './redirect-doors.ts';

export interface SignInOptions {
  readonly login: Login;
  readonly origin: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly pages: Pages;
  readonly csrfKeys: CsrfKeys;
  /** Seconds that a sign-in on our own page, or elsewhere, counts for. */
  readonly lifetime: number;
  /** Told of every member before their sign-in begins. */
  readonly signedIn: (member: Member) => Promise<void>;
  readonly told: SignInEvents;
}

/** Our own pages of the sign-in; absent ones have no route. */
export interface SignInDoors {
  /** The page one signs in on, or is sent on from. */
  readonly page: Handler;
  /** Takes what was typed. */
  readonly submit?: Handler;
  /** Where other pages send the browser back to. */
  readonly callback?: Handler;
}

/** What the authorization server asks, and the pages it takes. In: one way to sign in, of whichever shape. */
export interface SignIn {
  readonly connector: LoginConnector;
  /** Undefined: the school's own pages are all there is. */
  readonly doors: SignInDoors | undefined;
}

/** What both kinds of doors have in common. */
export interface DoorOptions extends Omit<SignInOptions, 'login'> {
  readonly sessions: SignInSessions;
  readonly memberCookie: ReturnType<typeof ownCookie>;
  /** Binds what is begun to the browser that began it. */
  readonly browserCookie: ReturnType<typeof ownCookie>;
}

export function createSignIn({ login, ...options }: SignInOptions): SignIn {
  if (login.shape === 'ambient') return { connector: login.connector, doors: undefined };
  const { origin, store, clock, lifetime } = options;
  const memberCookie = ownCookie(origin, 'member');
  const kept = signInSessions({ store, clock, cookieName: memberCookie.name, lifetime });
  const sessions: SignInSessions = {
    ...kept,
    async begin(headers, member) {
      await options.signedIn(member);
      return kept.begin(headers, member);
    },
  };
  const shared = { ...options, sessions, memberCookie, browserCookie: ownCookie(origin, 'sign_in') };
  return { connector: ownConnector(sessions.identify, origin), doors: doorsOf(login, shared) };
}

function doorsOf(
  login: { shape: 'credentials'; check: CredentialCheck } | { shape: 'redirect'; providers: readonly SignInProvider[] },
  shared: DoorOptions,
): SignInDoors {
  return login.shape === 'credentials'
    ? credentialDoors(login.check, shared)
    : redirectDoors(login.providers, signInAttempts(shared.store, shared.clock), shared);
}

/** Who signed in is known to us, and the page to do so is ours. */
function ownConnector(identify: LoginConnector['identify'], origin: string): LoginConnector {
  return {
    identify,
    signInUrl(returnTo, { loginHint, uiLocales, another, fresh, maxAge, acrValues }) {
      const url = new URL(ENDPOINTS.signIn, origin);
      url.searchParams.set('return_to', returnTo.pathname + returnTo.search);
      if (loginHint !== undefined) url.searchParams.set('login_hint', loginHint);
      if (uiLocales !== undefined) url.searchParams.set('ui_locales', uiLocales);
      if (another === true) url.searchParams.set('another', '1');
      if (fresh === true) url.searchParams.set('prompt', 'login');
      if (maxAge !== undefined) url.searchParams.set('max_age', String(maxAge));
      if (acrValues !== undefined) url.searchParams.set('acr_values', acrValues);
      return url;
    },
  };
}
