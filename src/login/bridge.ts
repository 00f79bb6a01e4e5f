import { createHmac, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { Member, SignInProvider } from './connector.ts';
import { readMember, readVersion } from './whoami/member.ts';

export interface BridgeOptions {
  /** The page of the backend that answers who is signed in: absolute, or a path of our own origin. */
  readonly url: string;
  readonly origin: string;
  /** Known to the backend and to us alone. */
  readonly secret: string;
}

/** Nobody's payload is as long. */
const LONGEST = 16 * 1024;

/**
 * The `bridge` connector: a signed one-time redirect in the shape that DiscourseConnect made known. The backend is asked
 * with `sso`, a query string in base64 that holds a nonce and where to come back to, and `sig`, the HMAC-SHA-256 in hex of
 * that base64 text; it answers in the same way with the nonce and who is signed in. Its own page, second factors and single
 * sign-on stay as they are.
 */
export function bridgeProvider({ url, origin, secret }: BridgeOptions): SignInProvider {
  const sign = (text: string) => createHmac('sha256', secret).update(text).digest();

  /** Out: what was said, when it was signed with our secret. */
  const read = (query: URLSearchParams): URLSearchParams | undefined => {
    const [sso, sig] = [only(query, 'sso'), only(query, 'sig')];
    if (sso === undefined || sig === undefined || sso.length > LONGEST || !/^[0-9a-f]{64}$/i.test(sig))
      return undefined;
    // Over the text as it came: what it decodes to may be written in several ways.
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

/** RFC 6749 §3.1 in spirit: a parameter that is there twice has two readers. */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function memberOf(said: URLSearchParams): Member {
  const authTime = only(said, 'auth_time');
  const version = only(said, 'version');
  const values = {
    sub: only(said, 'external_id'),
    email: only(said, 'email'),
    name: only(said, 'name') ?? only(said, 'username'),
    authTime: authTime === undefined ? undefined : Number(authTime),
    acr: only(said, 'acr'),
  };
  return readMember(values, version === undefined ? undefined : readVersion(version));
}
