import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { type Answer, isHtml, type JsonObject, jsonObject, mediaType, text, where } from '../answer.ts';
import type { Ask, Question } from '../ask.ts';
import { check } from '../check.ts';
import { failure, pass, problemsOr, type Verdict, warning } from '../finding.ts';
import { NoAnswer, Unavailable } from '../unavailable.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** A form POST, as accepted by OAuth endpoints. */
function form(fields: Readonly<Record<string, string>>): Question {
  return { method: 'POST', headers: FORM, body: new URLSearchParams(fields).toString() };
}

/** Private members of a JWK (RFC 7517 section 9.2, RFC 7518 section 6). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const WEAKEST_RSA = 2048;

/** The endpoints that the metadata lists. */
export const ENDPOINTS = [
  check({
    id: 'endpoint.there',
    title: 'Every listed endpoint exists',
    reference: 'RFC 8414 section 2',
    fix: 'List only existing endpoints, and route them all to the gate: clients call whatever the metadata lists.',
    needs: ['server'],
    async run({ ask }, { server: { document } }) {
      const problems: Verdict[] = [];
      let asked = 0;
      for (const [name, question] of Object.entries(PROBES)) {
        const url = text(document[name]);
        if (url === undefined) continue;
        asked += 1;
        const wrong = await absence(ask, url, question);
        if (wrong !== undefined) problems.push(failure(`${name}: ${wrong}`));
      }
      return problemsOr(problems, `${asked} addresses answer`);
    },
  }),
  check({
    id: 'endpoint.keys',
    title: 'The keys are available and usable',
    reference: 'RFC 7517 section 5, RFC 8414 section 2',
    fix: 'Serve the public signing keys as application/json or application/jwk-set+json: RSA of 2048 bits or more, EC or Ed25519, each with its own kid.',
    needs: ['server'],
    async run({ ask }, { server: { document } }) {
      const url = text(document.jwks_uri);
      if (url === undefined) throw new Unavailable('no keys are listed, and opaque tokens need none');
      const answer = await ask(url);
      const keys = jsonObject(answer)?.keys;
      if (answer.status !== 200 || !Array.isArray(keys))
        return failure(`${where(answer)} is not a JWKS (${answer.status})`);
      return problemsOr(judgeKeys(keys), `${keys.length} keys`);
    },
  }),
  check({
    id: 'token.errors',
    title: 'The token endpoint returns errors as JSON with a code',
    reference: 'RFC 6749 section 5.2',
    fix: 'Answer 400 (401 for an unknown client) with {"error": …} as application/json, for malformed requests too.',
    needs: ['server'],
    async run({ ask }, { server }) {
      const answer = await ask(tokenEndpoint(server.document), form({ grant_type: 'urn:coursegate-doctor:nonsense' }));
      return judgeError(answer, [400, 401]);
    },
  }),
  check({
    id: 'token.unknown-client',
    title: 'An unknown app is told so',
    reference: 'RFC 6749 section 5.2',
    fix: 'Answer 401 with "invalid_client": it makes apps register again. Any other answer leaves them stuck.',
    needs: ['server'],
    async run({ ask }, { server }) {
      const fields = { ...CODE, client_id: 'coursegate-doctor-never-registered' };
      const answer = await ask(tokenEndpoint(server.document), form(fields));
      const error = jsonObject(answer)?.error;
      if (error === 'invalid_client' && (answer.status === 401 || answer.status === 400))
        return pass(`${answer.status} invalid_client`);
      if (answer.status < 400) return failure(`a code of an unknown app gets ${answer.status}`);
      return warning(`${answer.status} ${text(error) ?? 'without a code'}`);
    },
  }),
  check({
    id: 'token.get',
    title: 'The token endpoint ignores parameters in the URL',
    reference: 'RFC 6749 section 3.2',
    fix: 'Accept only POST: URLs end up in logs.',
    needs: ['server'],
    async run({ ask }, { server }) {
      const url = new URL(tokenEndpoint(server.document));
      for (const [name, value] of Object.entries(CODE)) url.searchParams.set(name, value);
      const answer = await ask(url.href);
      const error = text(jsonObject(answer)?.error);
      if (answer.status < 300) return failure(`GET gets ${answer.status}`);
      if (error === 'invalid_grant' || error === 'invalid_client')
        return warning(`GET is processed like a request: ${error}`);
      return pass(`GET gets ${answer.status}`);
    },
  }),
  check({
    id: 'token.no-store',
    title: 'Responses of the token endpoint are not cached',
    reference: 'RFC 6749 section 5.1, RFC 9111 section 5.2.2.5',
    fix: 'Send Cache-Control: no-store with every response of the token endpoint, and keep proxies from removing it.',
    needs: ['server'],
    async run({ ask }, { server }) {
      const answer = await ask(tokenEndpoint(server.document), form({ grant_type: 'urn:coursegate-doctor:nonsense' }));
      const said = String(answer.headers['cache-control'] ?? '');
      return /\bno-store\b/i.test(said)
        ? pass(said)
        : warning(said === '' ? 'no Cache-Control' : `Cache-Control: ${said}`);
    },
  }),
  check({
    id: 'token.unknown-code',
    title: 'An unknown code is refused as invalid',
    reference: 'RFC 6749 section 5.2',
    fix: 'Answer 400 with "invalid_grant".',
    needs: ['server', 'client'],
    async run({ ask }, { server, client }) {
      const answer = await ask(tokenEndpoint(server.document), form({ ...CODE, client_id: client.clientId }));
      if (answer.status < 400) return failure(`it gets ${answer.status}`);
      const error = text(jsonObject(answer)?.error);
      return error === 'invalid_grant'
        ? pass(`${answer.status} ${error}`)
        : warning(`${answer.status} ${error ?? 'without a code'}`);
    },
  }),
  check({
    id: 'introspection.closed',
    title: 'Introspection requires authentication',
    reference: 'RFC 7662 sections 2.1, 4',
    fix: 'Require the caller’s own credentials, and answer 401 without them: an open endpoint lets anyone test tokens.',
    needs: ['server'],
    async run({ ask }, { server: { document } }) {
      const url = text(document.introspection_endpoint);
      if (url === undefined) throw new Unavailable('no introspection endpoint is listed');
      const answer = await ask(url, form({ token: 'coursegate-doctor' }));
      if (answer.status < 300)
        return failure(`without credentials it answers ${answer.status} ${answer.text.slice(0, 60)}`);
      return pass(`without credentials it answers ${answer.status}`);
    },
  }),
  check({
    id: 'revocation.works',
    title: 'An app can revoke its tokens',
    reference: 'RFC 7009 section 2.2',
    fix: 'Answer 200 for an unknown token too: the app wants it gone, and it is.',
    needs: ['server', 'client'],
    async run({ ask }, { server: { document }, client }) {
      const url = text(document.revocation_endpoint);
      if (url === undefined)
        return warning('no revocation endpoint is listed', 'Offer one, and list it in the metadata.');
      const answer = await ask(url, form({ token: 'coursegate-doctor', client_id: client.clientId }));
      return answer.status === 200 ? pass('200') : warning(`an unknown token gets ${answer.status}`);
    },
  }),
] as const;

const CODE = {
  grant_type: 'authorization_code',
  code: 'coursegate-doctor-never-issued',
  redirect_uri: 'http://127.0.0.1/callback',
  code_verifier: 'coursegate-doctor-verifier-of-more-than-43-letters',
} as const;

/** Requests without effect, which an existing endpoint does not answer with 404. */
const PROBES: Readonly<Record<string, Question>> = {
  token_endpoint: form({}),
  revocation_endpoint: form({}),
  introspection_endpoint: form({}),
  pushed_authorization_request_endpoint: form({}),
  device_authorization_endpoint: form({}),
  // Invalid JSON, so that no server registers anything.
  registration_endpoint: { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' },
  userinfo_endpoint: {},
  authorization_endpoint: { headers: { accept: 'text/html' } },
  end_session_endpoint: { headers: { accept: 'text/html' } },
};

/** Why an endpoint seems not to exist; undefined when it exists, or when it must not be requested. */
async function absence(ask: Ask, url: string, question: Question): Promise<string | undefined> {
  try {
    const answer = await ask(url, question);
    if ([404, 410, 501].includes(answer.status)) return `${where(answer)} is ${answer.status}`;
    return answer.status >= 500 ? `${where(answer)} fails with ${answer.status}` : undefined;
  } catch (thrown) {
    if (thrown instanceof NoAnswer) return `${url}: ${thrown.message}`;
    // Reported by server.https.
    if (thrown instanceof Unavailable) return undefined;
    throw thrown;
  }
}

function tokenEndpoint(document: JsonObject): string {
  const url = text(document.token_endpoint);
  if (url === undefined || URL.parse(url) === null) throw new Unavailable('the metadata lists no token endpoint');
  return url;
}

/** Checks the status, media type and code of an OAuth error response. */
export function judgeError(answer: Answer, statuses: readonly number[]): Verdict {
  const error = text(jsonObject(answer)?.error);
  if (answer.status < 400) return failure(`an invalid request gets ${answer.status}`);
  if (answer.status >= 500) return failure(`an invalid request gets ${answer.status}`);
  if (isHtml(answer)) return failure(`an invalid request gets a page (${answer.status})`);
  if (error === undefined) return failure(`${answer.status} without "error"`);
  if (mediaType(answer) !== 'application/json')
    return warning(`${answer.status} ${error} as ${mediaType(answer) || 'no type'}`);
  if (!statuses.includes(answer.status))
    return warning(`${answer.status} ${error} instead of ${statuses.join(' or ')}`);
  return pass(`${answer.status} ${error}`);
}

function judgeKeys(keys: readonly unknown[]): readonly Verdict[] {
  if (keys.length === 0) return [failure('the set is empty')];
  const problems: Verdict[] = [];
  const seen = new Set<unknown>();
  for (const one of keys) {
    const key = Object(one) as Record<string, unknown>;
    const name = text(key.kid) ?? 'a key without kid';
    const secret = PRIVATE_MEMBERS.filter((member) => key[member] !== undefined);
    if (secret.length > 0)
      problems.push(
        failure(
          `${name} is published with its private part (${secret.join(', ')})`,
          'Stop using the key at once, create a new one, and publish public members only.',
        ),
      );
    else if (text(key.kid) === undefined && keys.length > 1) problems.push(warning('a key has no kid'));
    else if (seen.has(key.kid)) problems.push(warning(`two keys have the kid ${name}`));
    else problems.push(...unusable(key, name));
    seen.add(key.kid);
  }
  return problems;
}

function unusable(key: Record<string, unknown>, name: string): readonly Verdict[] {
  try {
    const made = createPublicKey({ key: key as JsonWebKey, format: 'jwk' });
    const bits = made.asymmetricKeyDetails?.modulusLength;
    return bits !== undefined && bits < WEAKEST_RSA ? [failure(`${name} has only ${bits} bits`)] : [];
  } catch {
    return [failure(`${name} is not a usable key`)];
  }
}
