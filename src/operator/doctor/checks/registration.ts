import type { JsonObject } from '../../../http/json-object.ts';
import { jsonObject, strings, text } from '../answer.ts';
import type { Register } from '../facts/facts.ts';
import { checkEach, failure, pass, type Verdict, warning } from '../finding.ts';
import { remove } from '../registrations.ts';
import { checks } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import { checkError } from './endpoints.ts';

/** What apps can register (RFC 7591). Each check registers or tries to; everything is deleted at the end. */
export const REGISTRATION = [
  ...checks(['registration'], {
    async 'registration.works'({ registration: register }) {
      const { answer, client } = await register();
      if (client === undefined)
        return failure(`${answer.status} ${text(jsonObject(answer)?.error) ?? 'without a client_id'}`);
      return answer.status === 201 ? pass('201') : warning(`it gets ${answer.status} instead of 201`);
    },
    'registration.script-uri': ({ registration }) =>
      checkUris(registration, [
        'javascript:alert(1)',
        'JaVaScRiPt:alert(1)',
        'data:text/html,x',
        'vbscript:x',
        'file:///etc/passwd',
        'view-source:https://coursegate-doctor.invalid/',
      ]),
    'registration.plain-http-uri': ({ registration }) =>
      checkUris(registration, [
        'http://coursegate-doctor.invalid/callback',
        'http://127.0.0.1.coursegate-doctor.invalid/callback',
        'http://192.168.1.1/callback',
      ]),
    'registration.odd-uri': ({ registration }) =>
      checkUris(registration, [
        'https://*.coursegate-doctor.invalid/callback',
        'https://coursegate-doctor.invalid/callback#x',
        'https://bank.example@coursegate-doctor.invalid/callback',
      ]),
    'registration.bounds': ({ registration }) =>
      checkTries(
        registration,
        {
          'a name of 50,000 characters': { client_name: 'x'.repeat(50_000) },
          '1,000 redirect URIs': { redirect_uris: Array.from({ length: 1000 }, (_, at) => `http://127.0.0.1/${at}`) },
        },
        (body, what) => (JSON.stringify(body).length > 10_000 ? warning(`${what}: registered`) : undefined),
        'refused or truncated',
      ),
    'registration.grants': ({ registration }) =>
      checkTries(
        registration,
        {
          'other grants': { grant_types: ['password', 'client_credentials', 'urn:coursegate-doctor:nonsense'] },
          'the implicit grant': { grant_types: ['implicit'], response_types: ['token'] },
        },
        (body) => {
          const risky = [...strings(body.grant_types), ...strings(body.response_types)].filter((one) =>
            /^(password|client_credentials|implicit|token|urn:coursegate-doctor:.*)$/.test(one),
          );
          return risky.length > 0 ? failure(`registered for ${risky.join(', ')}`) : undefined;
        },
        'refused or omitted',
      ),
    async 'registration.errors'({ registration: register }) {
      const { answer, client } = await register({ redirect_uris: ['not an address'] });
      if (client !== undefined) return failure('"not an address" is accepted as a redirect URI');
      return checkError(answer, [400, 413]);
    },
    async 'registration.management'({ ask, registered, registration: register }) {
      const { client } = await register();
      if (client === undefined || registered === undefined) throw new Unavailable('no app could be registered');
      const uri = text(client.body.registration_client_uri);
      if (uri === undefined)
        return warning('no registration_client_uri is returned: the audit cannot delete its registrations');
      const stranger = await ask(uri, { headers: { authorization: 'Bearer coursegate-doctor-stranger' } });
      if (stranger.status < 300) return failure(`a stranger's token gets ${stranger.status}`);
      const gone = await remove(ask, registered, client);
      if (gone === undefined) return warning('the registration cannot be deleted with the returned data');
      return gone === 204 ? pass('401 to strangers, 204 to DELETE') : warning(`DELETE gets ${gone}`);
    },
  }),
  ...checks(['client'], {
    'registration.public'({ client: { body } }) {
      const method = body.token_endpoint_auth_method;
      if (method !== undefined && method !== 'none') return warning(`it is registered with ${String(method)}`);
      return body.client_secret === undefined ? pass('none') : warning('a secret is issued anyway');
    },
  }),
];

/** Tries to register each of the named changes, and checks what is registered. */
function checkTries(
  register: Register,
  tries: Readonly<Record<string, object>>,
  check: (body: JsonObject, what: string) => Verdict | undefined,
  good: string,
): Promise<readonly Verdict[]> {
  return checkEach(good, Object.entries(tries), async ([what, changes]) => {
    const { client, answer } = await register(changes);
    if (answer.status >= 500) return failure(`${what}: the server fails with ${answer.status}`);
    return client === undefined ? undefined : check(client.body, what);
  });
}

function checkUris(register: Register, uris: readonly string[]): Promise<readonly Verdict[]> {
  return checkTries(
    register,
    Object.fromEntries(uris.map((uri) => [uri, { redirect_uris: [uri] }])),
    ({ redirect_uris: kept }, uri) =>
      kept === undefined || strings(kept).length > 0 ? failure(`${uri} is registered`) : undefined,
    `${uris.length} refused`,
  );
}
