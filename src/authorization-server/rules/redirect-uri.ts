import { isForbiddenScheme } from '../../oauth/forbidden-scheme.ts';
import { coversHost } from './domain.ts';

/** The operator's rules about where apps may send members. */
export interface RedirectPolicy {
  /** Accepted private-use schemes without a dot, in lower case. */
  readonly schemes: readonly string[];
  /** The only hosts accepted in https redirect URIs; empty: all. */
  readonly allow: readonly string[];
  /** Hosts that are never accepted. Overrides `allow`. */
  readonly deny: readonly string[];
}

const MOST = 10;
const LONGEST = 2048;

/** Parameters of an authorization response. If a redirect URI contained one, the app might read that one instead. */
const ANSWERED = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'response', 'session_state'];

const PORT = String.raw`(?::(?:0|[1-9]\d{0,4}))?`;
const REST = '(?:[/?]|$)';
const LOOPBACK = new RegExp(String.raw`^http://(?:localhost|127\.0\.0\.1|\[::1\])${PORT}${REST}`);
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** A name whose last label is not a number. Browsers read all others as some form of an IPv4 address. */
const HTTPS = new RegExp(String.raw`^https://((?:${LABEL}\.)*(?!\d|0[xX])${LABEL})${PORT}${REST}`);
const WITH_DOT = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+$/;

type Rule = (uri: string, policy: RedirectPolicy) => string | undefined;

/**
 * The rules for redirect URIs, in the order they are applied (RFC 6749 section 3.1.2, RFC 8252 section 7, RFC 9700
 * sections 2.1 and 4.1). A URI is checked as it was sent and never corrected: exactly the same string is stored,
 * compared and redirected to. It must therefore have only one reading, for us, the browser and the app.
 */
const RULES: readonly Rule[] = [
  (uri) => (uri.length > LONGEST ? `is longer than ${LONGEST} characters` : undefined),
  // RFC 3986 section 2: no spaces, controls, backslashes, quotes, or anything outside ASCII.
  (uri) => (/^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(uri) ? undefined : 'holds a character that no URI has'),
  (uri) => (/%(?![0-9A-Fa-f]{2})/.test(uri) ? 'has a % that encodes nothing' : undefined),
  (uri) => (/%(?:[01][0-9A-Fa-f]|7[Ff])/.test(uri) ? 'holds an encoded control character' : undefined),
  (uri) => (uri.includes('#') ? 'must have no fragment' : undefined),
  (uri) => (uri.includes('*') ? 'must be one exact URI, without wildcards' : undefined),
  (uri, policy) => schemeProblem(schemeOf(uri), policy),
  (uri) => (/^[^/]*\/\/[^/?]*@/.test(uri) ? 'must hold no user information' : undefined),
  (uri) => (schemeOf(uri) === 'http' && !LOOPBACK.test(uri) ? LOOPBACK_ONLY : undefined),
  (uri, policy) => (schemeOf(uri) === 'https' ? httpsProblem(uri, policy) : undefined),
  (uri) => (/^[^:]*:\/./.test(uri) && URL.canParse(uri) ? undefined : 'must be an absolute URI with a host or a path'),
  (uri) => queryProblem(uri),
];

const LOOPBACK_ONLY = 'is http, which is taken on localhost, 127.0.0.1 and [::1] only, with any port';

/** What is wrong with a redirect URI, in words for the app's developer; undefined if nothing. */
function redirectUriProblem(uri: string, policy: RedirectPolicy): string | undefined {
  for (const rule of RULES) {
    const problem = rule(uri, policy);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Checks `redirect_uris` (RFC 7591 section 2). All of them must be valid. */
export function redirectUrisProblem(uris: unknown, policy: RedirectPolicy): string | undefined {
  if (!Array.isArray(uris) || uris.length === 0) return 'must be a list of at least one URI';
  if (uris.length > MOST) return `must be at most ${MOST} URIs`;
  for (const [index, uri] of uris.entries()) {
    const problem = typeof uri === 'string' ? redirectUriProblem(uri, policy) : 'must be text';
    if (problem !== undefined) return `number ${index + 1} ${problem}`;
  }
  return undefined;
}

function schemeOf(uri: string): string {
  return /^[A-Za-z][A-Za-z0-9+.-]*(?=:)/.exec(uri)?.[0] ?? '';
}

function schemeProblem(scheme: string, { schemes }: RedirectPolicy): string | undefined {
  if (scheme === '') return 'must be an absolute URI';
  if (scheme !== scheme.toLowerCase()) return 'must have its scheme in lower case';
  if (scheme === 'http' || scheme === 'https') return undefined;
  if (isForbiddenScheme(scheme)) return `must not use the scheme ${scheme}`;
  if (WITH_DOT.test(scheme) || schemes.includes(scheme)) return undefined;
  return 'uses a scheme that is not known here: private-use schemes are reversed domain names, such as com.example.app';
}

function httpsProblem(uri: string, { allow, deny }: RedirectPolicy): string | undefined {
  const host = HTTPS.exec(uri)?.[1]?.toLowerCase();
  if (host === undefined || host === 'localhost') return 'is https, which needs a host with a name, and no IP address';
  if (deny.some((domain) => coversHost(domain, host))) return 'leads to a host that is not taken here';
  if (allow.length > 0 && !allow.some((domain) => coversHost(domain, host)))
    return 'leads to a host that is not on the list of this server';
  return undefined;
}

/** Response parameters must not already be in the redirect URI (RFC 9700 section 4.1). */
function queryProblem(uri: string): string | undefined {
  const start = uri.indexOf('?');
  if (start === -1) return undefined;
  const names = [...new URLSearchParams(uri.slice(start + 1)).keys()];
  const reserved = ANSWERED.find((name) => names.includes(name));
  return reserved === undefined ? undefined : `must not have ${reserved} in its query: that is what the answer brings`;
}
