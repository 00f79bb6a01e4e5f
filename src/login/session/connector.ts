import type { ClaimsConfig } from '../../config/claims.ts';
import type { Log } from '../../operations/log.ts';
import type { Clock } from '../../storage/store.ts';
import type { CallUpstream } from '../../upstream/request.ts';
import { anonymousReturns } from '../anonymous-return.ts';
import type { Login, LoginConnector } from '../connector.ts';
import type { LoginParts } from '../login-parts.ts';
import { siteSignInUrl } from '../site-sign-in-url.ts';
import { askWhoami } from './owner.ts';
import type { SessionLoginConfig } from './settings.ts';

export { sessionOwner } from './owner.ts';

export interface SessionOptions {
  readonly origin: string;
  readonly call: CallUpstream;
  /** The URL of the upstream that has whoami, for the log. */
  readonly base: string;
  readonly claims?: ClaimsConfig;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

export function open(config: SessionLoginConfig, { upstreams, ...parts }: LoginParts): Login {
  const base = upstreams[config.upstream]?.url ?? '';
  return { shape: 'ambient', connector: sessionConnector(config, { ...parts, base }) };
}

/**
 * The `session` login: sends the backend's own cookie to its whoami URL. Only the listed cookies are sent, and redirects
 * are not followed. Nothing is cached between calls, so a sign-out or a change of member takes effect immediately.
 */
export function sessionConnector(
  config: SessionLoginConfig,
  { origin, call, base, claims, clock, log }: SessionOptions,
): LoginConnector {
  const ask = askWhoami(config, call, base, claims);
  return {
    knowsAuthTime: config.whoami.authTime !== undefined,
    cameBackAnonymous: anonymousReturns(config.cookies, { log, clock }),
    identify: async (headers) => (await ask(headers.cookie ?? '')).member,
    signInUrl: siteSignInUrl(config, origin),
  };
}
