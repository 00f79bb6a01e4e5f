import type { ClaimsConfig } from '../config/claims.ts';
import type { SessionLoginConfig } from '../config/session-login.ts';
import type { Log } from '../operations/log.ts';
import type { Clock } from '../storage/store.ts';
import type { CallUpstream } from '../upstream/request.ts';
import { anonymousReturns } from './anonymous-return.ts';
import type { LoginConnector } from './connector.ts';
import { askWhoami } from './session-owner.ts';

export interface SessionOptions {
  readonly origin: string;
  readonly call: CallUpstream;
  /** The URL of the upstream that has whoami, for the log. */
  readonly base: string;
  readonly claims?: ClaimsConfig;
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
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
    cameBackAnonymous: anonymousReturns(config, { log, clock }),
    identify: async (headers) => (await ask(headers.cookie ?? '')).member,

    signInUrl(returnTo, { loginHint }) {
      const url = new URL(config.loginUrl, origin);
      // Most sites only accept a path for their own origin: an absolute URL looks like an open redirect to them.
      const value = url.origin === returnTo.origin ? `${returnTo.pathname}${returnTo.search}` : returnTo.href;
      url.searchParams.set(config.returnParam, value);
      if (config.hintParam !== undefined && loginHint !== undefined) url.searchParams.set(config.hintParam, loginHint);
      return url;
    },
  };
}
