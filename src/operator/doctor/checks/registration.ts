import { type JsonObject, jsonObject, strings, text } from '../answer.ts';
import { checks } from '../check.ts';
import type { Register } from '../facts/facts.ts';
import { failure, judgeEach, pass, type Verdict, warning } from '../finding.ts';
import { remove } from '../registrations.ts';
import { Unavailable } from '../unavailable.ts';
import { judgeError } from './endpoints.ts';

/** What apps can register (RFC 7591). Each check registers or tries to; everything is deleted at the end. */
export const REGISTRATION = [
  ...checks(['registration'], {
    'registration.works': {
      title: 'A public app can register',
      reference: 'RFC 7591 section 3.2.1',
      fix: 'Answer 201 with the client_id and all registered metadata.',
      async run({ registration: register }) {
        const { answer, client } = await register();
        if (client === undefined)
          return failure(`${answer.status} ${text(jsonObject(answer)?.error) ?? 'without a client_id'}`);
        return answer.status === 201 ? pass('201') : warning(`it gets ${answer.status} instead of 201`);
      },
    },
    'registration.script-uri': {
      title: 'Script URIs are refused as redirect URIs',
      reference: 'RFC 7591 section 5, RFC 9700 section 4.1.3',
      fix: 'Accept https, loopback http and private-use schemes with a dot; refuse javascript:, data:, file: and the like with invalid_redirect_uri.',
      run: ({ registration }) =>
        judgeUris(registration, [
          'javascript:alert(1)',
          'JaVaScRiPt:alert(1)',
          'data:text/html,x',
          'vbscript:x',
          'file:///etc/passwd',
          'view-source:https://coursegate-doctor.invalid/',
        ]),
    },
    'registration.plain-http-uri': {
      title: 'Plain http redirect URIs are refused, except on loopback',
      reference: 'RFC 8252 section 7.3, OAuth 2.1 section 2.3.1',
      fix: 'Refuse http unless the host is 127.0.0.1, [::1] or localhost: codes could be intercepted.',
      run: ({ registration }) =>
        judgeUris(registration, [
          'http://coursegate-doctor.invalid/callback',
          'http://127.0.0.1.coursegate-doctor.invalid/callback',
          'http://192.168.1.1/callback',
        ]),
    },
    'registration.odd-uri': {
      title: 'Redirect URIs with a wildcard, fragment or password are refused',
      reference: 'RFC 6749 section 3.1.2, RFC 9700 section 4.1.3',
      fix: 'Refuse redirect URIs with *, #, or name:password@ with invalid_redirect_uri.',
      run: ({ registration }) =>
        judgeUris(registration, [
          'https://*.coursegate-doctor.invalid/callback',
          'https://coursegate-doctor.invalid/callback#x',
          'https://bank.example@coursegate-doctor.invalid/callback',
        ]),
    },
    'registration.bounds': {
      title: 'Registered metadata is limited in size',
      reference: 'RFC 7591 section 5',
      fix: 'Limit names (64 characters are enough), URIs (2048), their number (10) and the whole request (16 KiB).',
      run: ({ registration }) =>
        judgeTries(
          registration,
          {
            'a name of 50,000 characters': { client_name: 'x'.repeat(50_000) },
            '1,000 redirect URIs': { redirect_uris: Array.from({ length: 1000 }, (_, at) => `http://127.0.0.1/${at}`) },
          },
          (body, what) => (JSON.stringify(body).length > 10_000 ? warning(`${what}: registered`) : undefined),
          'refused or truncated',
        ),
    },
    'registration.grants': {
      title: 'Apps cannot register for grants that are not meant for them',
      reference: 'RFC 7591 section 2, RFC 9700 section 2.4',
      fix: 'Register authorization_code and refresh_token only; refuse others with invalid_client_metadata, or omit them from the response.',
      run: ({ registration }) =>
        judgeTries(
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
    },
    'registration.errors': {
      title: 'A refused registration returns the reason as JSON',
      reference: 'RFC 7591 section 3.2.2',
      fix: 'Answer 400 with {"error": "invalid_redirect_uri"} or "invalid_client_metadata" as application/json.',
      async run({ registration: register }) {
        const { answer, client } = await register({ redirect_uris: ['not an address'] });
        if (client !== undefined) return failure('"not an address" is accepted as a redirect URI');
        return judgeError(answer, [400, 413]);
      },
    },
    'registration.management': {
      title: 'A registration can be managed by its app and by no one else',
      reference: 'RFC 7592 sections 2, 3',
      fix: 'Return registration_client_uri and registration_access_token, support DELETE, and answer 401 to any other token.',
      async run({ ask, registered, registration: register }) {
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
    },
  }),
  ...checks(['client'], {
    'registration.public': {
      title: 'An app that needs no secret gets none',
      reference: 'RFC 7591 section 3.2.1, OAuth 2.1 section 2.1',
      fix: 'Register "token_endpoint_auth_method": "none" as requested: an app with a secret must send it, and a public app cannot keep one.',
      run({ client: { body } }) {
        const method = body.token_endpoint_auth_method;
        if (method !== undefined && method !== 'none') return warning(`it is registered with ${String(method)}`);
        return body.client_secret === undefined ? pass('none') : warning('a secret is issued anyway');
      },
    },
  }),
];

/** Tries to register each of the named changes, and judges what is registered. */
function judgeTries(
  register: Register,
  tries: Readonly<Record<string, object>>,
  judge: (body: JsonObject, what: string) => Verdict | undefined,
  good: string,
): Promise<readonly Verdict[]> {
  return judgeEach(good, Object.entries(tries), async ([what, changes]) => {
    const { client, answer } = await register(changes);
    if (answer.status >= 500) return failure(`${what}: the server fails with ${answer.status}`);
    return client === undefined ? undefined : judge(client.body, what);
  });
}

function judgeUris(register: Register, uris: readonly string[]): Promise<readonly Verdict[]> {
  return judgeTries(
    register,
    Object.fromEntries(uris.map((uri) => [uri, { redirect_uris: [uri] }])),
    ({ redirect_uris: kept }, uri) =>
      kept === undefined || strings(kept).length > 0 ? failure(`${uri} is registered`) : undefined,
    `${uris.length} refused`,
  );
}
