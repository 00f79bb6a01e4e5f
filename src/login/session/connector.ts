import type { ClaimsConfig } from '../../config/claims.ts';
import type { Config } from '../../config/schema.ts';
import type { SessionOwner } from '../../upstream/credentials/session-replay.ts';
import type { CallUpstream } from '../../upstream/request.ts';
import { anonymousReturns } from '../anonymous-return.ts';
import type { Login, LoginConnector, Member } from '../connector.ts';
import { cookieFilter } from '../cookies.ts';
import type { LoginParts } from '../login-parts.ts';
import { siteSignInUrl } from '../site-sign-in-url.ts';
import { shownUrl } from '../whoami/question.ts';
import { askBackend } from '../whoami/unusable.ts';
import { createWhoami } from '../whoami/whoami.ts';
import type { SessionLoginConfig } from './settings.ts';

export function open(config: SessionLoginConfig, { upstreams, ...parts }: LoginParts): Login {
  const base = upstreams[config.upstream]?.url ?? '';
  return { shape: 'ambient', connector: sessionConnector(config, parts, base) };
}

/**
 * The `session` login: sends the backend's own cookie to its whoami URL. Only the listed cookies are sent, and redirects
 * are not followed. Nothing is cached between calls, so a sign-out or a change of member takes effect immediately.
 */
export function sessionConnector(
  config: SessionLoginConfig,
  { origin, call, claims, clock, log }: Pick<LoginParts, 'origin' | 'call' | 'claims' | 'clock' | 'log'>,
  base: string,
): LoginConnector {
  const ask = askWhoami(config, call, base, claims);
  return {
    knowsAuthTime: config.whoami.authTime !== undefined,
    cameBackAnonymous: anonymousReturns(config.cookies, { log, clock }),
    identify: async (headers) => (await ask(headers.cookie ?? '')).member,
    signInUrl: siteSignInUrl(config, origin),
  };
}

/** The member that a session belongs to, undefined for no one, and the cookies that the response set. */
interface Owned {
  readonly member: Member | undefined;
  readonly setCookie: readonly string[];
}

/**
 * Asks the backend's whoami about the listed cookies in a Cookie header. Does not follow redirects and bypasses caches.
 *
 * @param base - the URL of the upstream, for the log
 * @throws {GatewayError} `login_unavailable` when the backend cannot say
 */
function askWhoami(
  config: SessionLoginConfig,
  call: CallUpstream,
  base: string,
  claims?: ClaimsConfig,
): (cookies: string) => Promise<Owned> {
  const ask = askBackend(call);
  const whoami = createWhoami(config.whoami, shownUrl(base, config.whoami.path), claims);
  const listed = cookieFilter(config.cookies);
  return async (cookies) => {
    const cookie = listed(cookies);
    if (cookie === '') return { member: undefined, setCookie: [] };
    const answer = await ask({
      upstream: config.upstream,
      method: 'GET',
      path: config.whoami.path,
      headers: { cookie, accept: whoami.accept, 'cache-control': 'no-cache' },
    }).catch((thrown: unknown) => {
      throw whoami.failed(thrown);
    });
    return { member: whoami.read(answer), setCookie: answer.headers['set-cookie']?.split('\n') ?? [] };
  };
}

/** Asks whose a stored session is, without a browser. */
export function sessionOwner(
  config: SessionLoginConfig,
  upstreams: Config['upstreams'],
  call: CallUpstream,
): SessionOwner {
  const ask = askWhoami(config, call, upstreams[config.upstream]?.url ?? '');
  return async (cookies) => {
    const { member, setCookie } = await ask(cookies);
    return { sub: member?.sub, setCookie };
  };
}
