import type { Handler } from '../../http/exchange.ts';
import { signInAttempts } from '../../login/attempts.ts';
import type { CredentialCheck, Login, LoginConnector, Member, SignInProvider } from '../../login/connector.ts';
import { type SignInSessions, signInSessions } from '../../login/sign-in-session.ts';
import type { Clock, Store } from '../../storage/store.ts';
import { ownCookie } from '../cookies.ts';
import type { CsrfKeys } from '../csrf.ts';
import { ENDPOINTS } from '../endpoints.ts';
import type { Pages } from '../pages/pages.ts';
import { credentialHandlers } from './credential-handlers.ts';
import type { SignInEvents } from './events.ts';
import { redirectHandlers } from './redirect-handlers.ts';

export interface SignInOptions {
  readonly login: Login;
  readonly origin: string;
  readonly store: Store;
  readonly clock: Clock;
  readonly pages: Pages;
  readonly csrfKeys: CsrfKeys;
  /** Lifetime of a sign-in session, in seconds. */
  readonly lifetime: number;
  /** Called for every member before their session begins. */
  readonly signedIn: (member: Member) => Promise<void>;
  readonly told: SignInEvents;
}

/** The handlers of the gate's own sign-in pages. Absent ones have no route. */
export interface SignInHandlers {
  /** The sign-in page, or the redirect to a provider. */
  readonly page: Handler;
  /** Accepts the submitted credentials. */
  readonly submit?: Handler;
  /** Accepts the redirect back from a provider. */
  readonly callback?: Handler;
}

/** How the authorization server identifies members, and the pages for that, for any kind of login. */
export interface SignIn {
  readonly connector: LoginConnector;
  /** Undefined when members sign in on the course site's own pages. */
  readonly handlers: SignInHandlers | undefined;
}

/** The options of both kinds of handlers. */
export interface SignInHandlerOptions extends Omit<SignInOptions, 'login'> {
  readonly sessions: SignInSessions;
  readonly memberCookie: ReturnType<typeof ownCookie>;
  /** Binds a sign-in to the browser that started it. */
  readonly browserCookie: ReturnType<typeof ownCookie>;
}

export function createSignIn({ login, ...options }: SignInOptions): SignIn {
  if (login.shape === 'ambient') return { connector: login.connector, handlers: undefined };
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
  return { connector: ownConnector(sessions.identify, origin), handlers: handlersOf(login, shared) };
}

function handlersOf(
  login: { shape: 'credentials'; check: CredentialCheck } | { shape: 'redirect'; providers: readonly SignInProvider[] },
  shared: SignInHandlerOptions,
): SignInHandlers {
  return login.shape === 'credentials'
    ? credentialHandlers(login.check, shared)
    : redirectHandlers(login.providers, signInAttempts(shared.store, shared.clock), shared);
}

/** The connector for sign-ins on the gate's own pages. */
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
