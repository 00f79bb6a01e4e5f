import type { SessionLoginConfig } from '../config/schema.ts';
import { GatewayError } from '../errors.ts';
import type { CallUpstream } from '../upstream/request.ts';
import type { LoginConnector, Member } from './connector.ts';

/** A subject travels in headers, tokens and paths of other systems: bounded, and free of anything that is not text. */
const SUBJECT = /^[^\p{Cc}\p{Cf}\s](?:[^\p{Cc}\p{Cf}]{0,253}[^\p{Cc}\p{Cf}\s])?$/u;

/**
 * The `session` connector: the backend's own cookie, asked at its own whoami URL. Only the listed cookies are sent, a
 * redirect or 401/403 means nobody is signed in, and no redirect is followed.
 */
export function sessionConnector(config: SessionLoginConfig, origin: string, call: CallUpstream): LoginConnector {
  return {
    async identify(headers) {
      const cookie = pickCookies(headers.cookie ?? '', config.cookies);
      if (cookie === '') return undefined;
      const response = await call({
        upstream: config.upstream,
        method: 'GET',
        path: config.whoami.path,
        headers: { cookie, accept: 'application/json' },
      }).catch((thrown: unknown) => {
        throw new GatewayError('login_unavailable', { cause: thrown });
      });
      if (response.status === 401 || response.status === 403 || (response.status >= 300 && response.status < 400)) {
        return undefined;
      }
      if (response.status !== 200) throw unusable(`whoami answered ${response.status}`);
      return parseMember(response.body, config.whoami);
    },

    signInUrl(returnTo, { loginHint }) {
      const url = new URL(config.loginUrl, origin);
      // On the backend's own origin most sites take a path only: an absolute URL looks to them like an open redirect.
      const value = url.origin === returnTo.origin ? `${returnTo.pathname}${returnTo.search}` : returnTo.href;
      url.searchParams.set(config.returnParam, value);
      if (config.hintParam !== undefined && loginHint !== undefined) url.searchParams.set(config.hintParam, loginHint);
      return url;
    },
  };
}

/** In: a Cookie field value. Out: the pairs whose names are listed, byte for byte, in the order received. */
function pickCookies(header: string, names: readonly string[]): string {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => names.includes(pair.slice(0, Math.max(0, pair.indexOf('=')))))
    .join('; ');
}

function parseMember(body: string, whoami: SessionLoginConfig['whoami']): Member {
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch (thrown) {
    throw unusable('whoami did not answer JSON', thrown);
  }
  const id = at(document, whoami.subject);
  const sub = typeof id === 'number' && Number.isSafeInteger(id) ? String(id) : id;
  if (typeof sub !== 'string' || !SUBJECT.test(sub))
    throw unusable(`whoami gave no usable subject at ${whoami.subject}`);
  const authTime = whoami.authTime === undefined ? undefined : at(document, whoami.authTime);
  return {
    sub,
    email: text(document, whoami.email),
    name: text(document, whoami.name),
    authTime: Number.isSafeInteger(authTime) ? (authTime as number) : undefined,
    acr: text(document, whoami.acr),
  };
}

function text(document: unknown, pointer: string | undefined): string | undefined {
  const value = pointer === undefined ? undefined : at(document, pointer);
  return typeof value === 'string' && value !== '' && value.length <= 320 ? value : undefined;
}

/** RFC 6901, own properties only. */
function at(document: unknown, pointer: string): unknown {
  let value = document;
  for (const token of pointer.split('/').slice(1)) {
    const key = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function unusable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('login_unavailable', { cause: new Error(reason, { cause }) });
}
