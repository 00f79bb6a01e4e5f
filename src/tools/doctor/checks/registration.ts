import { type Answer, jsonObject, strings, text } from '../answer.ts';
import { check } from '../check.ts';
import { clientMetadata } from '../facts/registration.ts';
import { failure, pass, problemsOr, type Verdict, warning } from '../finding.ts';
import type { Site } from '../site.ts';
import { Unavailable } from '../unavailable.ts';
import { judgeError } from './endpoints.ts';

/** What apps can register (RFC 7591). Each check registers or tries to; everything is deleted at the end. */
export const REGISTRATION = [
  check({
    id: 'registration.works',
    title: 'A public app can register',
    reference: 'RFC 7591 section 3.2.1',
    fix: 'Answer 201 with the client_id and all registered metadata.',
    needs: ['registration'],
    async run(site, { registration }) {
      const { answer, client } = await register(site, registration, {});
      if (client === undefined)
        return failure(`${answer.status} ${text(jsonObject(answer)?.error) ?? 'without a client_id'}`);
      return answer.status === 201 ? pass('201') : warning(`it gets ${answer.status} instead of 201`);
    },
  }),
  check({
    id: 'registration.public',
    title: 'An app that needs no secret gets none',
    reference: 'RFC 7591 section 3.2.1, OAuth 2.1 section 2.1',
    fix: 'Register "token_endpoint_auth_method": "none" as requested: an app with a secret must send it, and a public app cannot keep one.',
    needs: ['client'],
    async run(_site, { client }) {
      const method = client.body.token_endpoint_auth_method;
      if (method !== undefined && method !== 'none') return warning(`it is registered with ${String(method)}`);
      return client.body.client_secret === undefined ? pass('none') : warning('a secret is issued anyway');
    },
  }),
  check({
    id: 'registration.script-uri',
    title: 'Script URIs are refused as redirect URIs',
    reference: 'RFC 7591 section 5, RFC 9700 section 4.1.3',
    fix: 'Accept https, loopback http and private-use schemes with a dot; refuse javascript:, data:, file: and the like with invalid_redirect_uri.',
    needs: ['registration'],
    run: (site, { registration }) =>
      refusedUris(site, registration, [
        'javascript:alert(1)',
        'JaVaScRiPt:alert(1)',
        'data:text/html,x',
        'vbscript:x',
        'file:///etc/passwd',
        'view-source:https://coursegate-doctor.invalid/',
      ]),
  }),
  check({
    id: 'registration.plain-http-uri',
    title: 'Plain http redirect URIs are refused, except on loopback',
    reference: 'RFC 8252 section 7.3, OAuth 2.1 section 2.3.1',
    fix: 'Refuse http unless the host is 127.0.0.1, [::1] or localhost: codes could be intercepted.',
    needs: ['registration'],
    run: (site, { registration }) =>
      refusedUris(site, registration, [
        'http://coursegate-doctor.invalid/callback',
        'http://127.0.0.1.coursegate-doctor.invalid/callback',
        'http://192.168.1.1/callback',
      ]),
  }),
  check({
    id: 'registration.odd-uri',
    title: 'Redirect URIs with a wildcard, fragment or password are refused',
    reference: 'RFC 6749 section 3.1.2, RFC 9700 section 4.1.3',
    fix: 'Refuse redirect URIs with *, #, or name:password@ with invalid_redirect_uri.',
    needs: ['registration'],
    run: (site, { registration }) =>
      refusedUris(site, registration, [
        'https://*.coursegate-doctor.invalid/callback',
        'https://coursegate-doctor.invalid/callback#x',
        'https://bank.example@coursegate-doctor.invalid/callback',
      ]),
  }),
  check({
    id: 'registration.bounds',
    title: 'Registered metadata is limited in size',
    reference: 'RFC 7591 section 5',
    fix: 'Limit names (64 characters are enough), URIs (2048), their number (10) and the whole request (16 KiB).',
    needs: ['registration'],
    async run(site, { registration }) {
      const problems: Verdict[] = [];
      for (const [what, changes] of [
        ['a name of 50,000 characters', { client_name: 'x'.repeat(50_000) }],
        ['1,000 redirect URIs', { redirect_uris: Array.from({ length: 1000 }, (_, at) => `http://127.0.0.1/${at}`) }],
      ] as const) {
        const { client, answer } = await register(site, registration, changes);
        if (answer.status >= 500) problems.push(failure(`${what}: the server fails with ${answer.status}`));
        else if (client !== undefined && answer.text.length > 10_000) problems.push(warning(`${what}: registered`));
      }
      return problemsOr(problems, 'refused or truncated');
    },
  }),
  check({
    id: 'registration.grants',
    title: 'Apps cannot register for grants that are not meant for them',
    reference: 'RFC 7591 section 2, RFC 9700 section 2.4',
    fix: 'Register authorization_code and refresh_token only; refuse others with invalid_client_metadata, or omit them from the response.',
    needs: ['registration'],
    async run(site, { registration }) {
      const problems: Verdict[] = [];
      for (const changes of [
        { grant_types: ['password', 'client_credentials', 'urn:coursegate-doctor:nonsense'] },
        { grant_types: ['implicit'], response_types: ['token'] },
      ]) {
        const { client, answer } = await register(site, registration, changes);
        if (answer.status >= 500) problems.push(failure(`the server fails with ${answer.status}`));
        const taken = [...strings(client?.body.grant_types), ...strings(client?.body.response_types)];
        const risky = taken.filter((one) =>
          /^(password|client_credentials|implicit|token|urn:coursegate-doctor:.*)$/.test(one),
        );
        if (risky.length > 0) problems.push(failure(`registered for ${risky.join(', ')}`));
      }
      return problemsOr(problems, 'refused or omitted');
    },
  }),
  check({
    id: 'registration.statement',
    title: 'An unsigned software statement is not trusted',
    reference: 'RFC 7591 sections 3.1.1, 3.2.2',
    fix: 'Ignore software_statement, or verify its signature and refuse an invalid one with invalid_software_statement.',
    needs: ['registration'],
    async run(site, { registration }) {
      const claims = Buffer.from(JSON.stringify({ client_name: 'Believed by coursegate doctor' })).toString(
        'base64url',
      );
      const statement = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`;
      const { client, answer } = await register(site, registration, { software_statement: statement });
      if (answer.status >= 500) return failure(`the server fails with ${answer.status}`);
      if (client === undefined) return pass(`${answer.status} ${text(jsonObject(answer)?.error) ?? ''}`.trim());
      if (client.body.client_name === 'Believed by coursegate doctor') return failure('its claims are registered');
      return client.body.software_statement === undefined
        ? pass('ignored')
        : warning('it is returned as if it had been accepted');
    },
  }),
  check({
    id: 'registration.errors',
    title: 'A refused registration returns the reason as JSON',
    reference: 'RFC 7591 section 3.2.2',
    fix: 'Answer 400 with {"error": "invalid_redirect_uri"} or "invalid_client_metadata" as application/json.',
    needs: ['registration'],
    async run(site, { registration }) {
      const { answer, client } = await register(site, registration, { redirect_uris: ['not an address'] });
      if (client !== undefined) return failure('"not an address" is accepted as a redirect URI');
      return judgeError(answer, [400, 413]);
    },
  }),
  check({
    id: 'registration.management',
    title: 'A registration can be managed by its app and by no one else',
    reference: 'RFC 7592 sections 2, 3',
    fix: 'Return registration_client_uri and registration_access_token, support DELETE, and answer 401 to any other token.',
    needs: ['registration'],
    async run(site, { registration }) {
      const { client } = await register(site, registration, {});
      if (client === undefined) throw new Unavailable('no app could be registered');
      const uri = text(client.body.registration_client_uri);
      if (uri === undefined)
        return warning('no registration_client_uri is returned: the audit cannot delete its registrations');
      const stranger = await site.ask(uri, { headers: { authorization: 'Bearer coursegate-doctor-stranger' } });
      if (stranger.status < 300) return failure(`a stranger's token gets ${stranger.status}`);
      const gone = await site.registrations?.takeBackNow(client);
      if (gone === undefined) return warning('the registration cannot be deleted with the returned data');
      return gone === 204 ? pass('401 to strangers, 204 to DELETE') : warning(`DELETE gets ${gone}`);
    },
  }),
] as const;

async function register(site: Site, endpoint: string, changes: object) {
  if (site.registrations === undefined) throw new Unavailable('registering is not allowed');
  return site.registrations.register(endpoint, clientMetadata(changes));
}

async function refusedUris(site: Site, endpoint: string, uris: readonly string[]): Promise<readonly Verdict[]> {
  const problems: Verdict[] = [];
  const refusals: Answer[] = [];
  for (const uri of uris) {
    const { client, answer } = await register(site, endpoint, { redirect_uris: [uri] });
    if (
      client !== undefined &&
      (client.body.redirect_uris === undefined || strings(client.body.redirect_uris).length > 0)
    )
      problems.push(failure(`${uri} is registered`));
    else if (answer.status >= 500) problems.push(failure(`${uri}: the server fails with ${answer.status}`));
    else refusals.push(answer);
  }
  return problemsOr(problems, `${refusals.length} refused`);
}
