import { createHmac, timingSafeEqual } from 'node:crypto';
import { requiredSecret } from '../../config/read-secrets.ts';
import { GatewayError } from '../../errors.ts';
import { eachDetail } from '../../oauth/member-details.ts';
import type { Login, Member, SignInProvider } from '../connector.ts';
import type { LoginParts } from '../login-parts.ts';
import { readMember } from '../whoami/member.ts';
import type { BridgeLoginConfig } from './settings.ts';

/** Far longer than any real payload. */
const LONGEST = 16 * 1024;

export function open(config: BridgeLoginConfig, { origin, secrets }: LoginParts): Login {
  const secret = requiredSecret(secrets, 'login.secret');
  return { shape: 'redirect', providers: [bridgeProvider(config, origin, secret)] };
}

/**
 * The `bridge` login: a signed one-time redirect in the format of DiscourseConnect. The request has `sso`, a Base64 query
 * string with a nonce and the return URL, and `sig`, the hex HMAC-SHA-256 of that Base64 text. The backend responds in
 * the same format with the nonce and the member. Its own sign-in page, second factors and single sign-on keep working.
 */
export function bridgeProvider(
  { url }: Pick<BridgeLoginConfig, 'url'>,
  origin: string,
  secret: string,
): SignInProvider {
  const sign = (text: string) => createHmac('sha256', secret).update(text).digest();

  /** The payload of a response; undefined unless it is signed with our secret. */
  const read = (query: URLSearchParams): URLSearchParams | undefined => {
    const [sso, sig] = [only(query, 'sso'), only(query, 'sig')];
    if (sso === undefined || sig === undefined || sso.length > LONGEST || !/^[0-9a-f]{64}$/i.test(sig))
      return undefined;
    // The signature covers the text as received, because the same payload has several Base64 encodings.
    if (!timingSafeEqual(sign(sso), Buffer.from(sig, 'hex'))) return undefined;
    return new URLSearchParams(Buffer.from(sso, 'base64').toString('utf8'));
  };

  return {
    id: 'bridge',
    name: '',

    async begin({ state, callback, wish }) {
      const payload = new URLSearchParams({ nonce: state, return_sso_url: callback.href });
      if (wish.loginHint !== undefined) payload.set('login_hint', wish.loginHint);
      if (wish.uiLocales !== undefined) payload.set('ui_locales', wish.uiLocales);
      if (wish.another === true) payload.set('prompt', 'select_account');
      else if (wish.fresh === true) payload.set('prompt', 'login');
      if (wish.maxAge !== undefined) payload.set('max_age', String(wish.maxAge));
      const sso = Buffer.from(payload.toString()).toString('base64');
      const target = new URL(url, origin);
      target.searchParams.set('sso', sso);
      target.searchParams.set('sig', sign(sso).toString('hex'));
      return { url: target, kept: '' };
    },

    stateOf: (query) => (read(query) ?? new URLSearchParams()).get('nonce') ?? undefined,

    async finish({ query }) {
      const said = read(query);
      if (said === undefined) throw new GatewayError('invalid_request');
      if (said.get('failed') === 'true') return undefined;
      return memberOf(said);
    },
  };
}

/** The only value of a parameter. Refuses repeated ones, like RFC 6749 section 3.1, since parsers treat them differently. */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function memberOf(said: URLSearchParams): Member {
  const authTime = only(said, 'auth_time');
  const details = eachDetail((_, { claim }) => only(said, claim));
  return readMember({
    sub: only(said, 'external_id'),
    ...details,
    emailVerified: only(said, 'email_verified'),
    name: details.name ?? only(said, 'username'),
    authTime: authTime === undefined ? undefined : Number(authTime),
    acr: only(said, 'acr'),
    version: only(said, 'version'),
  });
}
