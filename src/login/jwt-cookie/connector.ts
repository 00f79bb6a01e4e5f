import { cookieValues } from '../../http/cookie-names.ts';
import { anonymousReturns } from '../anonymous-return.ts';
import type { Login } from '../connector.ts';
import type { LoginParts } from '../login-parts.ts';
import { memberInToken } from '../signed-token/member.ts';
import { siteSignInUrl } from '../site-sign-in-url.ts';
import type { JwtCookieLoginConfig } from './settings.ts';

/**
 * The `jwt-cookie` login: a cookie of the site holds a signed token, which names the member. It is verified here, with the
 * site's published keys, and the site is not asked. A token that does not verify means that no one is signed in.
 */
export function open(config: JwtCookieLoginConfig, { origin, clock, claims, log }: LoginParts): Login {
  const memberOf = memberInToken(config.jwt, clock, claims);
  return {
    shape: 'ambient',
    connector: {
      knowsAuthTime: true,
      cameBackAnonymous: anonymousReturns([config.jwt.cookie], { log, clock }),
      identify: ({ cookie }) => memberOf(onlyValue(cookie, config.jwt.cookie)),
      signInUrl: siteSignInUrl(config, origin),
    },
  };
}

/**
 * The value of the cookie in a Cookie header, without the quotes it may be in (RFC 6265 section 4.1.1). Undefined if two
 * cookies of this name differ: a neighbouring site may have set one of them, and the gate cannot tell which.
 */
function onlyValue(header: string | undefined, name: string): string | undefined {
  const values = cookieValues(header, name);
  return new Set(values).size === 1 ? values[0]?.replace(/^"(.*)"$/, '$1') : undefined;
}
