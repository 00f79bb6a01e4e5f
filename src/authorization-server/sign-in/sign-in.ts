import type { Config } from '../../config/schema.ts';
import { signInAttempts } from '../../login/attempts.ts';
import type { HandOver, Login, LoginConnector } from '../../login/connector.ts';
import { type SignInSessions, signInSessions } from '../../login/sign-in-session.ts';
import { deriveKey, deriveKeys } from '../../storage/seal.ts';
import { type OwnCookie, ownCookie } from '../cookies.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { limitAttempts } from './attempt-limits.ts';
import { credentialHandlers } from './credential-handlers.ts';
import { signInEvents } from './events.ts';
import { handOverHandler } from './hand-over-handler.ts';
import { redirectHandlers } from './redirect-handlers.ts';
import type { SignInHandlers, SignInOptions } from './sign-in-handlers.ts';

/** How the authorization server identifies members, and the pages for that, for any kind of login. */
export interface SignIn {
  readonly connector: LoginConnector;
  /** Undefined when members sign in on the course site's own pages. */
  readonly handlers: SignInHandlers | undefined;
}

/** Seconds for which the site's cookies are kept after a hand-over: as long as an interaction lasts. */
const HANDED_OVER = 900;

/** @param login - built from `config`, with pages of the gate's own */
export function createSignIn(
  config: Config['login'],
  login: Exclude<Login, { readonly shape: 'ambient' }>,
  options: SignInOptions,
): SignIn {
  const { origin, store, clock, secrets, places } = options;
  const memberCookie = ownCookie(origin, 'member');
  const lifetime = 'session' in config ? config.session : HANDED_OVER;
  const kept = signInSessions({ store, clock, cookieName: memberCookie.name, lifetime });
  const sessions: SignInSessions = {
    ...kept,
    async begin(headers, member) {
      return kept.begin(headers, await options.signedIn(member));
    },
  };
  const shared = {
    ...options,
    csrfKeys: deriveKeys(secrets, 'sign-in-csrf'),
    events: signInEvents(options.audit, clock, deriveKey(secrets[0], 'audit-account')),
    sessions,
    memberCookie,
    browserCookie: ownCookie(origin, 'sign_in'),
  };
  const connector = ownConnector(sessions, memberCookie, origin);
  if (login.shape === 'redirect') {
    const { providers, handOver } = login;
    const handlers = redirectHandlers(providers, signInAttempts(store, clock), shared);
    if (handOver === undefined) return { connector, handlers };
    return {
      connector: { ...connector, ...handedOver(handOver, sessions.identify) },
      handlers: { ...handlers, handOver: handOverHandler(handOver, origin) },
    };
  }
  const check = 'attempts' in config ? limitAttempts(login.check, config.attempts, places) : login.check;
  return { connector, handlers: credentialHandlers(check, shared) };
}

/** What differs if the sign-in session holds the site's: the site is asked each time. */
function handedOver({ knowsAuthTime, again }: HandOver, identify: SignInSessions['identify']) {
  return {
    knowsAuthTime,
    // The site's session would begin the next one.
    signOut: undefined,
    async identify(headers) {
      const kept = await identify(headers);
      return kept && again(kept);
    },
    siteCookies: async (headers) => (await identify(headers))?.cookies ?? '',
  } satisfies Partial<LoginConnector>;
}

/** The connector for sign-ins on the gate's own pages. */
function ownConnector(sessions: SignInSessions, cookie: OwnCookie, origin: string): LoginConnector {
  return {
    // A password sign-in always has a time; a sign-in on another site only if its response contains one.
    knowsAuthTime: true,
    identify: sessions.identify,
    async signOut(headers) {
      await sessions.end(headers);
      return [cookie.set('', 0)];
    },
    signInUrl(returnTo, { loginHint, uiLocales, another, fresh, maxAge, acrValues }) {
      const url = new URL(ENDPOINTS.signIn, origin);
      const query = {
        return_to: returnTo.pathname + returnTo.search,
        login_hint: loginHint,
        ui_locales: uiLocales,
        another: another === true ? '1' : undefined,
        prompt: fresh === true ? 'login' : undefined,
        max_age: maxAge,
        acr_values: acrValues,
      };
      for (const [name, value] of Object.entries(query))
        if (value !== undefined) url.searchParams.set(name, String(value));
      return url;
    },
  };
}
