/**
 * Express behind coursegate: returns who is signed in (whoami), signs members in for the gate (bridge), runs the gate's
 * requests as the member (assertion), and revokes a member's connections (endConnections). One file without dependencies.
 * See README.md.
 */
import { createHash, createHmac, createPublicKey, randomBytes, timingSafeEqual, verify } from 'node:crypto';

/** In seconds: the allowed clock skew, how long keys are cached, and the minimum time between two fetches of keys. */
const LEEWAY = 10;
const KEYS_KEPT = 600;
const FETCH_PAUSE = 30;
/** Timeout of a request to the admin listener, in milliseconds. */
const TELL_WITHIN = 2000;

const PLAIN_HEADER = /^x[-_.](member[-_.].*|client[-_.]id)$/i;
const ASSERTION_HEADER = 'x-coursegate-assertion';

/** The gate's keys are unavailable, so the assertion cannot be checked. */
class Unverifiable extends Error {}

/**
 * @typedef {object} Member
 * @property {string | number} id never changes and is never reused for another member
 * @property {string} [email]
 * @property {string} [name]
 * @property {string} [username]
 * @property {number} [authTime] when the password was entered for this session, in Unix seconds; only from signedIn
 * @property {boolean} [emailVerified] whether the email address is verified, if you know
 * @property {string} passwordHash only a keyed digest of it is sent, so that the gate notices a new password
 *
 * @param {object} settings
 * @param {string} settings.origin the gate's origin, as in coursegate.yaml
 * @param {string} [settings.pagesOrigin] the gate's pages.origin, if it has one
 * @param {string} settings.upstream this backend's name in coursegate.yaml
 * @param {string} settings.secret shared with the gate, 32 characters or more
 * @param {string} [settings.jwksUrl] where to fetch the gate's keys, if not from its origin
 * @param {number} [settings.fetchPause] minimum time between two fetches of keys, in seconds
 * @param {boolean} [settings.boundOnly] refuse assertions that are not made for one request (plugin mode)
 * @param {string} [settings.adminUrl] the gate's admin listener; without it, endConnections does nothing
 * @param {string} [settings.adminSecret] the gate's admin.hmac.secret
 * @param {(request: import('express').Request) => Promise<Member | undefined>} settings.signedIn the session's member
 * @param {(id: string) => Promise<Member | undefined>} settings.findMember
 * @param {(returnTo: string) => string} settings.loginUrl the URL of the login page, given the path to return to. It must
 *   show its form to members who are signed in, too
 * @returns Express middleware and handlers
 */
export function coursegate(settings) {
  const { origin, upstream, secret, jwksUrl, fetchPause, adminUrl, adminSecret } = settings;
  const { signedIn, findMember, loginUrl } = settings;
  const origins = { origin, pagesOrigin: settings.pagesOrigin || origin };
  for (const [name, value] of Object.entries(origins))
    if (new URL(value).origin !== value) throw new TypeError(`coursegate: ${name} must be an origin, not ${value}`);
  if (!upstream) throw new TypeError('coursegate: upstream must be the name of this backend in coursegate.yaml');
  if (!(secret?.length >= 32)) throw new TypeError('coursegate: secret must have 32 characters or more');
  if (adminUrl && !adminSecret) throw new TypeError("coursegate: adminSecret must be the gate's admin.hmac.secret");
  const keyOf = keySource(jwksUrl ?? `${origin}/.well-known/jwks.json`, fetchPause ?? FETCH_PAUSE);

  const describe = ({ id, email = '', name = '', authTime, emailVerified, passwordHash }) => ({
    id: String(id),
    email,
    name,
    version: createHmac('sha256', secret).update(`version\n${id}\n${passwordHash}`).digest('hex').slice(0, 32),
    ...(authTime !== undefined && { auth_time: authTime }),
    ...(emailVerified !== undefined && { email_verified: emailVerified }),
  });

  return {
    /**
     * Middleware. Use it before sessions and everything that reads `request.user`, and after `method-override` if you have
     * it. Sets `request.user` to the member and `request.coursegate` to the claims.
     */
    async assertion(request, response, next) {
      for (const name of Object.keys(request.headers)) if (PLAIN_HEADER.test(name)) delete request.headers[name];
      const token = request.headers[ASSERTION_HEADER];
      // Gateways may send an empty field with requests without a member.
      if (!token) return next();
      let claims;
      let member;
      try {
        claims = await readAssertion(token, request, keyOf, settings);
        member = claims && (await findMember(claims.sub));
      } catch (thrown) {
        if (!(thrown instanceof Unverifiable)) return next(thrown);
        return response.status(503).set('Cache-Control', 'no-store').json({ error: 'temporarily_unavailable' });
      }
      if (!member) return response.status(401).set('Cache-Control', 'no-store').json({ error: 'invalid_assertion' });
      // The gate authorized the method that was sent, which `method-override` has replaced.
      if (request.originalMethod !== undefined && request.originalMethod !== request.method)
        return response.status(400).set('Cache-Control', 'no-store').json({ error: 'method_override' });
      // The request runs as the member in the assertion, so a session that it carries is ignored.
      delete request.headers.cookie;
      request.coursegate = { ...claims, scope: String(claims.scope ?? '').split(' ') };
      request.user = member;
      next();
    },

    /** GET: returns the session's member as JSON, or 401. */
    whoami: passingOn(async (request, response) => {
      const member = request.coursegate ? undefined : await signedIn(request);
      response.set('Cache-Control', 'no-store').vary('Cookie');
      if (member) response.json(describe(member));
      else response.status(401).json({ error: 'not_signed_in' });
    }),

    /** GET: signs the member in if needed, and redirects the browser back to the gate with a signed response. */
    bridge: passingOn(async (request, response) => {
      response.set('Cache-Control', 'no-store').set('Referrer-Policy', 'no-referrer');
      const asked = readBridge(new URL(request.originalUrl, origin).searchParams, secret, Object.values(origins));
      if (asked === undefined) return response.status(400).json({ error: 'invalid_request' });
      const member = request.coursegate ? undefined : await signedIn(request);
      if (!member || asked.signInAgain || isTooOld(member.authTime, asked.maxAge)) {
        const path = request.originalUrl.split('?')[0];
        return response.redirect(302, loginUrl(`${path}?${new URLSearchParams(signed(secret, asked.again))}`));
      }
      const { id, ...shown } = describe(member);
      const fields = { nonce: asked.nonce, external_id: id, username: member.username ?? '', ...shown };
      const answer = new URL(asked.returnTo);
      for (const [name, value] of Object.entries(signed(secret, fields))) answer.searchParams.set(name, value);
      response.redirect(302, answer.href);
    }),

    /**
     * Revokes a member's connections at the gate, so that their apps are refused from the next request on. Takes two
     * seconds at most and never rejects. If it fails, the error is logged, and the connections end later, when the gate
     * sees the member's new version.
     * @param {string | number} id
     * @param {string} reason for the gate's audit log, such as 'password changed'
     * @returns {Promise<boolean>} whether the gate has revoked them
     */
    async endConnections(id, reason) {
      if (!adminUrl) return false;
      try {
        const path = `/members/${encodeURIComponent(id)}/revoke`;
        const body = JSON.stringify({ by: 'backend', reason });
        const response = await fetch(adminUrl.replace(/\/$/, '') + path, {
          method: 'POST',
          body,
          headers: { 'content-type': 'application/json', 'coursegate-signature': signCommand(adminSecret, path, body) },
          redirect: 'error',
          signal: AbortSignal.timeout(TELL_WITHIN),
        });
        if (!response.ok) throw new Error(`the gate responded with ${response.status}`);
        return true;
      } catch (thrown) {
        console.error(`coursegate: could not revoke the connections of member ${id} (${reason}):`, thrown.message);
        return false;
      }
    },
  };
}

/** Passes a failure to Express' error handler. In Express 4, a rejected promise would end the process. */
function passingOn(handler) {
  return async (request, response, next) => {
    try {
      await handler(request, response);
    } catch (thrown) {
      next(thrown);
    }
  };
}

/** The Coursegate-Signature header: an HMAC over the time, a nonce, the request and its body. */
function signCommand(secret, path, body) {
  const time = Math.floor(Date.now() / 1000);
  const nonce = randomBytes(16).toString('hex');
  const text = `coursegate-v1\n${time}\n${nonce}\nPOST ${path}\n${createHash('sha256').update(body).digest('hex')}`;
  return `t=${time},n=${nonce},v1=${createHmac('sha256', secret).update(text).digest('hex')}`;
}

function sign(secret, sso) {
  return createHmac('sha256', secret).update(sso).digest('hex');
}

function signed(secret, fields) {
  const sso = Buffer.from(new URLSearchParams(fields).toString()).toString('base64');
  return { sso, sig: sign(secret, sso) };
}

/** The gate's request; undefined if its signature is invalid. The signature covers the base64 text, not the decoded fields. */
function readBridge(query, secret, origins) {
  const [sso, ...more] = query.getAll('sso');
  const [sig, ...others] = query.getAll('sig');
  if (sso === undefined || sig === undefined || more.length + others.length > 0) return undefined;
  const expected = Buffer.from(sign(secret, sso));
  const given = Buffer.from(sig);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const fields = new URLSearchParams(Buffer.from(sso, 'base64').toString());
  const nonce = fields.get('nonce');
  const returnTo = fields.get('return_sso_url') ?? '';
  // A URL that starts with an origin and a slash is on that origin, unless a URL parser drops or rewrites characters.
  const ours = origins.some((origin) => returnTo.startsWith(`${origin}/`));
  if (!nonce || !ours || /[^\x21-\x5b\x5d-\x7e]/.test(returnTo)) return undefined;
  const signInAgain = ['login', 'select_account'].includes(fields.get('prompt'));
  const maxAge = fields.has('max_age') ? Number(fields.get('max_age')) : undefined;
  // `again` leaves out `prompt` and `max_age`: a member who returns from the login page is not sent there again.
  return { nonce, returnTo, signInAgain, maxAge, again: { nonce, return_sso_url: returnTo } };
}

/** Whether the member signed in more than `maxAge` seconds ago. An unknown time is too old. */
function isTooOld(authTime, maxAge) {
  return maxAge !== undefined && !(Math.floor(Date.now() / 1000) - authTime <= maxAge);
}

/**
 * The claims of an assertion that is valid for this request, otherwise undefined. Throws Unverifiable if the gate's keys are
 * unavailable.
 */
async function readAssertion(token, request, keyOf, settings) {
  const parts = token.split('.');
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) return undefined;
  const [head, body, signature] = parts;
  const header = parseObject(head);
  const claims = parseObject(body);
  if (header?.alg !== 'ES256' || header.crit !== undefined || typeof header.kid !== 'string' || !claims)
    return undefined;
  const key = await keyOf(header.kid);
  const signed = Buffer.from(`${head}.${body}`);
  const raw = Buffer.from(signature, 'base64url');
  if (!key || raw.length !== 64 || !verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, raw)) return undefined;
  const now = Date.now() / 1000;
  const { iss, aud, exp, iat, nbf = 0, sub, client_id: client } = claims;
  const named = [sub, client].every((text) => typeof text === 'string' && text !== '');
  const timed = [exp, iat, nbf].every(Number.isFinite) && exp > now - LEEWAY && Math.max(iat, nbf) < now + LEEWAY;
  const forUs = iss === settings.origin && aud === settings.upstream && isFor(request, claims, settings);
  return named && timed && forUs ? claims : undefined;
}

/**
 * Whether this is the request that the assertion was made for, if it names one (RFC 9449 section 4.2). `originalUrl` is what
 * was sent, wherever the middleware is mounted.
 */
function isFor({ method, originalUrl }, { htm, htu }, { origin, boundOnly }) {
  if (htm === undefined && htu === undefined) return !boundOnly;
  return htm === method && htu === origin + originalUrl.split('?', 1)[0];
}

function parseObject(part) {
  try {
    const value = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Finds the gate's keys by kid. An unknown kid fetches the keys again, at most once every `pause` seconds. */
function keySource(url, pause) {
  const seconds = () => performance.now() / 1000;
  let keys = new Map();
  let goodUntil = Number.NEGATIVE_INFINITY;
  let askAgain = Number.NEGATIVE_INFINITY;
  let failed = false;
  let pending;

  const fetchKeys = async () => {
    try {
      const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(5000) });
      if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
      const usable = ({ kty, crv, use = 'sig', alg = 'ES256' }) =>
        kty === 'EC' && crv === 'P-256' && use === 'sig' && alg === 'ES256';
      const found = (await response.json()).keys.filter(usable);
      keys = new Map(found.map((jwk) => [jwk.kid, createPublicKey({ key: jwk, format: 'jwk' })]));
      goodUntil = seconds() + KEYS_KEPT;
      failed = false;
    } catch {
      failed = true;
    }
  };

  return async (kid) => {
    if (!(seconds() < goodUntil && keys.has(kid))) {
      if (pending === undefined && seconds() >= askAgain) {
        askAgain = seconds() + pause;
        pending = fetchKeys().finally(() => {
          pending = undefined;
        });
      }
      await pending;
    }
    if (seconds() >= goodUntil || (failed && !keys.has(kid))) throw new Unverifiable();
    return keys.get(kid);
  };
}
