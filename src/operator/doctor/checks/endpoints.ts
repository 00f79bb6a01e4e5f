import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { counted } from '../../../http/amounts.ts';
import type { JsonObject } from '../../../http/json-object.ts';
import { field, isHtml, jsonObject, mediaType, type SiteAnswer, text, where } from '../answer.ts';
import type { Ask, Question } from '../ask.ts';
import type { ExaminedServer } from '../facts/facts.ts';
import { REDIRECT_URI } from '../facts/registration.ts';
import { checkEach, failure, pass, type Verdict, warning } from '../finding.ts';
import { checks } from '../site.ts';
import { NoAnswer, Unavailable } from '../unavailable.ts';

/** Private members of a JWK (RFC 7517 section 9.2, RFC 7518 section 6). */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const WEAKEST_RSA = 2048;

const CODE = {
  grant_type: 'authorization_code',
  code: 'coursegate-doctor-never-issued',
  redirect_uri: REDIRECT_URI,
  code_verifier: 'coursegate-doctor-verifier-of-more-than-43-letters',
};
const NONSENSE = { grant_type: 'urn:coursegate-doctor:nonsense' };

/** The endpoints that the metadata lists. */
export const ENDPOINTS = [
  ...checks(['server'], {
    'endpoint.there'({ ask, server: { document } }) {
      const listed = Object.keys(PROBES).filter((name) => text(document[name]) !== undefined);
      return checkEach(`${listed.length} addresses answer`, listed, (name) =>
        checkPresence(ask, name, text(document[name]) ?? '', PROBES[name] ?? {}),
      );
    },
    async 'endpoint.keys'({ ask, server: { document } }) {
      const url = text(document.jwks_uri);
      if (url === undefined) throw new Unavailable('no keys are listed, and opaque tokens need none');
      const answer = await ask(url);
      const keys = jsonObject(answer)?.keys;
      if (answer.status !== 200 || !Array.isArray(keys))
        return failure(`${where(answer)} is not a JWKS (${answer.status})`);
      if (keys.length === 0) return failure('the set is empty');
      return checkEach(counted(keys.length, 'key'), keys.entries(), ([at]) => checkKey(keys.map(Object), at));
    },
    'token.errors': async (known) => checkError(await post(known, 'token_endpoint', NONSENSE), [400, 401]),
    async 'token.unknown-client'(known) {
      const fields = { ...CODE, client_id: 'coursegate-doctor-never-registered' };
      return checkCode(await post(known, 'token_endpoint', fields), 'invalid_client');
    },
    async 'token.get'({ ask, server }) {
      const url = new URL(endpoint(server, 'token_endpoint'));
      for (const [name, value] of Object.entries(CODE)) url.searchParams.set(name, value);
      const answer = await ask(url.href);
      const error = text(jsonObject(answer)?.error);
      if (answer.status < 300) return failure(`GET gets ${answer.status}`);
      if (error === 'invalid_grant' || error === 'invalid_client')
        return warning(`GET is processed like a request: ${error}`);
      return pass(`GET gets ${answer.status}`);
    },
    async 'token.no-store'(known) {
      const cacheControl = field(await post(known, 'token_endpoint', NONSENSE), 'cache-control');
      if (/\bno-store\b/i.test(cacheControl)) return pass(cacheControl);
      return warning(cacheControl === '' ? 'no Cache-Control' : `Cache-Control: ${cacheControl}`);
    },
    async 'introspection.closed'(known) {
      const answer = await post(known, 'introspection_endpoint', { token: 'coursegate-doctor' });
      if (answer.status < 300)
        return failure(`without credentials it answers ${answer.status} ${answer.text.slice(0, 60)}`);
      return pass(`without credentials it answers ${answer.status}`);
    },
  }),
  ...checks(['server', 'client'], {
    async 'token.unknown-code'({ client, ...known }) {
      const answer = await post(known, 'token_endpoint', { ...CODE, client_id: client.clientId });
      return checkCode(answer, 'invalid_grant');
    },
    async 'revocation.works'({ client, ...known }) {
      if (text(known.server.document.revocation_endpoint) === undefined)
        return warning('no revocation endpoint is listed', 'Offer one, and list it in the metadata.');
      const fields = { token: 'coursegate-doctor', client_id: client.clientId };
      const { status } = await post(known, 'revocation_endpoint', fields);
      return status === 200 ? pass('200') : warning(`an unknown token gets ${status}`);
    },
  }),
];

/** A form POST, as accepted by OAuth endpoints. */
function form(fields: Readonly<Record<string, string>>): Question {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { method: 'POST', headers, body: new URLSearchParams(fields).toString() };
}

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

/** A problem if an endpoint seems not to exist. That it must not be requested is reported by server.https. */
async function checkPresence(ask: Ask, name: string, url: string, question: Question): Promise<Verdict | undefined> {
  try {
    const { status } = await ask(url, question);
    if (status >= 500 || status === 404 || status === 410) return failure(`${name}: ${url} is ${status}`);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof NoAnswer) return failure(`${name}: ${url}: ${thrown.message}`);
    if (thrown instanceof Unavailable) return undefined;
    throw thrown;
  }
}

function endpoint({ document }: ExaminedServer, member: string): string {
  const url = text(document[member]);
  if (url === undefined || !URL.canParse(url)) throw new Unavailable(`the metadata lists no ${member}`);
  return url;
}

function post(known: { ask: Ask; server: ExaminedServer }, member: string, fields: Readonly<Record<string, string>>) {
  return known.ask(endpoint(known.server, member), form(fields));
}

/** Checks the status, media type and code of an OAuth error response. */
export function checkError(answer: SiteAnswer, statuses: readonly number[]): Verdict {
  const { status } = answer;
  const error = text(jsonObject(answer)?.error);
  if (status < 400 || status >= 500) return failure(`an invalid request gets ${status}`);
  if (isHtml(answer)) return failure(`an invalid request gets a page (${status})`);
  if (error === undefined) return failure(`${status} without "error"`);
  const type = mediaType(answer);
  if (type !== 'application/json') return warning(`${status} ${error} as ${type || 'no type'}`);
  if (!statuses.includes(status)) return warning(`${status} ${error} instead of ${statuses.join(' or ')}`);
  return pass(`${status} ${error}`);
}

/** Checks that the token endpoint refuses a code with a certain error. */
function checkCode(answer: SiteAnswer, wanted: string): Verdict {
  const { status } = answer;
  if (status < 400) return failure(`it gets ${status}`);
  const error = text(jsonObject(answer)?.error);
  const seen = `${status} ${error ?? 'without a code'}`;
  return error === wanted && (status === 400 || status === 401) ? pass(seen) : warning(seen);
}

/** Checks one key of a set. */
function checkKey(keys: readonly JsonObject[], at: number): Verdict | undefined {
  const key = keys[at] ?? {};
  const name = text(key.kid) ?? 'a key without kid';
  const secret = PRIVATE_MEMBERS.filter((member) => key[member] !== undefined);
  if (secret.length > 0)
    return failure(
      `${name} is published with its private part (${secret.join(', ')})`,
      'Stop using the key at once, create a new one, and publish public members only.',
    );
  if (text(key.kid) === undefined && keys.length > 1) return warning('a key has no kid');
  if (keys.findIndex(({ kid }) => kid === key.kid) < at) return warning(`two keys have the kid ${name}`);
  try {
    const bits = createPublicKey({ key: key as JsonWebKey, format: 'jwk' }).asymmetricKeyDetails?.modulusLength;
    return bits !== undefined && bits < WEAKEST_RSA ? failure(`${name} has only ${bits} bits`) : undefined;
  } catch {
    return failure(`${name} is not a usable key`);
  }
}
