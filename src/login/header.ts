import type { IncomingHttpHeaders } from 'node:http';
import { JWKS_TIMEOUT, SIGNING_ALGORITHMS } from '../config/constants.ts';
import type { HeaderLoginConfig } from '../config/header-login.ts';
import { GatewayError } from '../errors.ts';
import type { Clock } from '../storage/store.ts';
import type { LoginConnector, Member } from './connector.ts';
import { outboundFetch, unavailable } from './outbound-fetch.ts';
import { remoteKeys } from './signed-token/remote-keys.ts';
import { verifySignedToken } from './signed-token/verify.ts';
import { readMember } from './whoami/member.ts';

/**
 * The `header` login: a single sign-on proxy in front of the gate says who is signed in. A plain header is only accepted
 * from a trusted proxy. An assertion is verified by its signature and accepted from any address. Anything that does not
 * verify is ignored, as if no one were signed in.
 */
export function headerConnector(config: HeaderLoginConfig, origin: string, clock: Clock): LoginConnector {
  const asserted = config.jwt === undefined ? undefined : assertionReader(config.jwt, clock);
  const { user = '' } = config;
  return {
    knowsAuthTime: asserted !== undefined,
    async identify(headers, { trusted }) {
      if (asserted !== undefined) return asserted(headers);
      return trusted ? plain(headers, { ...config, user }) : undefined;
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

function plain(
  headers: IncomingHttpHeaders,
  { user, email, name }: { user: string; email?: string | undefined; name?: string | undefined },
): Member | undefined {
  const sub = fieldOf(headers, user);
  if (sub === undefined || sub === '') return undefined;
  // Node joins repeated headers with a comma, and there is no telling which of them the proxy set.
  if (sub.includes(',')) throw unavailable(`${user} has two values: the proxy must replace the header, not add to it`);
  return readMember({ sub, email: fieldOf(headers, email), name: fieldOf(headers, name) });
}

function assertionReader(
  { header, jwks, issuer, audience, claims }: NonNullable<HeaderLoginConfig['jwt']>,
  clock: Clock,
): (headers: IncomingHttpHeaders) => Promise<Member | undefined> {
  const fetch = outboundFetch({ timeout: JWKS_TIMEOUT, loopback: new URL(jwks).protocol === 'http:' });
  const keys = remoteKeys(jwks, fetch, clock);
  return async (headers) => {
    const token = fieldOf(headers, header);
    if (token === undefined || token === '') return undefined;
    try {
      const said = await verifySignedToken(token, { keys, issuer, audience, algorithms: SIGNING_ALGORITHMS, clock });
      const { auth_time: authTime, acr, email_verified: emailVerified } = said;
      const { subject, email, name } = claims;
      return readMember({ sub: said[subject], email: said[email], emailVerified, name: said[name], authTime, acr });
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code === 'invalid_request') return undefined;
      throw thrown;
    }
  };
}

/** Decodes a header as UTF-8, which proxies use for names. Node decodes headers as Latin-1. */
function fieldOf(headers: IncomingHttpHeaders, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : headers[name.toLowerCase()];
  const one = Array.isArray(value) ? value.join(', ') : value;
  return one === undefined ? undefined : Buffer.from(one, 'latin1').toString('utf8');
}
