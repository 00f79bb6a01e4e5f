import type { IncomingHttpHeaders } from 'node:http';
import { eachDetail } from '../../oauth/member-details.ts';
import type { Clock } from '../../storage/store.ts';
import type { Login, LoginConnector, Member } from '../connector.ts';
import type { LoginParts } from '../login-parts.ts';
import { unavailable } from '../outbound-fetch.ts';
import { memberInToken } from '../signed-token/member.ts';
import { readMember } from '../whoami/member.ts';
import type { HeaderLoginConfig } from './settings.ts';

export function open(config: HeaderLoginConfig, { pagesOrigin, clock }: LoginParts): Login {
  return { shape: 'ambient', connector: headerConnector(config, pagesOrigin, clock) };
}

/**
 * The `header` login: a single sign-on proxy in front of the gate says who is signed in. A plain header is only accepted
 * from a trusted proxy. An assertion is verified by its signature and accepted from any address. Anything that does not
 * verify is ignored, as if no one were signed in.
 */
export function headerConnector(config: HeaderLoginConfig, origin: string, clock: Clock): LoginConnector {
  const { jwt } = config;
  const memberOf = jwt === undefined ? undefined : memberInToken(jwt, clock);
  return {
    knowsAuthTime: memberOf !== undefined,
    async identify(headers, { trusted }) {
      if (memberOf !== undefined) return memberOf(fieldOf(headers, jwt?.header));
      return trusted ? plain(headers, config) : undefined;
    },

    signInUrl(returnTo, { another, fresh }) {
      // A proxy only signs a member in again after it has signed them out.
      const page = (another === true || fresh === true ? config.switchUrl : undefined) ?? config.signInUrl;
      if (page === undefined) return returnTo;
      const url = new URL(page, origin);
      url.searchParams.set(config.returnParam, returnTo.href);
      return url;
    },
  };
}

function plain(headers: IncomingHttpHeaders, config: HeaderLoginConfig): Member | undefined {
  const { user } = config;
  const sub = fieldOf(headers, user);
  if (sub === undefined || sub === '') return undefined;
  // Node joins repeated headers with a comma, and there is no telling which of them the proxy set.
  if (sub.includes(',')) throw unavailable(`${user} has two values: the proxy must replace the header, not add to it`);
  return readMember({ sub, ...eachDetail((detail) => fieldOf(headers, config[detail])) });
}

/** Decodes a header as UTF-8, which proxies use for names. Node decodes headers as Latin-1. */
function fieldOf(headers: IncomingHttpHeaders, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : headers[name.toLowerCase()];
  const one = Array.isArray(value) ? value.join(', ') : value;
  return one === undefined ? undefined : Buffer.from(one, 'latin1').toString('utf8');
}
