import { authorizationRequest, registerApp } from '../../support/app.ts';
import { approved, refreshForm, statusOf, token } from '../../support/connection.ts';
import { REFUSED_REDIRECT_URIS } from '../../support/redirect-uris.ts';
import {
  type Attempt,
  asciiJson,
  FORM_TYPE,
  form,
  JSON_TYPE,
  lines,
  product,
  refused,
  request,
} from '../support/attempt.ts';
import type { SchoolStand } from '../support/school-stand.ts';
import type { Family } from '../support/stand.ts';

type Fields = Readonly<Record<string, string | undefined>>;

/** Hostile values for any parameter. */
const PAYLOADS: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['a space', ' '],
  ['NUL', '\0'],
  ['a line of a header', 'x\r\nSet-Cookie: evil=1'],
  ['5,000 characters', 'x'.repeat(5_000)],
  ['JSON', '{"$ne":null}'],
  ['a name of the runtime', '__proto__'],
  ['beyond ASCII', '\u202e\u0000\ufeffé'],
  ['SQL', "' OR '1'='1"],
  ['a path', '../../../etc/passwd'],
  ['a pattern', '*'],
  ['HTML', '"><script>evil()</script>'],
  ['a template', '{{7*7}}'],
  ['a URL', 'https://evil.test/'],
];

const NEARLY_REGISTERED = [
  ...['https://app.example/callback/', 'https://app.example/Callback', 'https://APP.example/callback'],
  ...['https://app.example/callback?x=1', 'https://app.example/callback#x', 'https://app.example:443/callback'],
  ...[
    'http://app.example/callback',
    'https://app.example.evil.test/callback',
    'https://app.example@evil.test/callback',
  ],
  ...[
    'https://app.example\\@evil.test/callback',
    'https://app.example/callback/../evil',
    'https://app.example/callbackx',
  ],
  ...['https://app.example/callback/%2e%2e/evil', 'https://app.example/callback/..;/evil', '//evil.test/callback'],
  ...['https://app.example/callback%0d%0aX:y', 'https://app.example/callback ', ' https://app.example/callback'],
  ...['https://app.example/%63allback', 'https://app.example/callback?', 'https://app.example:8443/callback'],
  ...['https://app.exаmple/callback', 'https://app.example/callback\t', 'https:/app.example/callback'],
];

const BAD_PARAMETERS: readonly (readonly [string, Fields])[] = [
  ['no response type', { response_type: undefined }],
  ['the implicit flow', { response_type: 'token' }],
  ['the hybrid flow', { response_type: 'code id_token', nonce: 'n' }],
  ['no challenge', { code_challenge: undefined }],
  ['no method', { code_challenge_method: undefined }],
  ['the plain method', { code_challenge_method: 'plain' }],
  ['the method in lower case', { code_challenge_method: 's256' }],
  ['a short challenge', { code_challenge: 'x'.repeat(42) }],
  ['a long challenge', { code_challenge: 'x'.repeat(129) }],
  ['an unknown scope', { scope: 'openid admin' }],
  ['scopes with a tab', { scope: 'openid\tcourses:read' }],
  ['a foreign resource', { resource: 'https://evil.test' }],
  ['a relative resource', { resource: '/' }],
  ['a request object', { request: 'e30.e30.' }],
  ['a request object by reference', { request_uri: 'https://evil.test/request' }],
  ['a pushed request that is not there', { request_uri: `urn:ietf:params:oauth:request_uri:${'x'.repeat(43)}` }],
  ['a registration', { registration: '{}' }],
  ['another response mode', { response_mode: 'web_message' }],
  ['a JWT response mode', { response_mode: 'jwt' }],
  ['prompt=none', { prompt: 'none' }],
  ['prompt=none with another', { prompt: 'none login' }],
  ['a negative max_age', { max_age: '-1' }],
];

/** Requests of an app without approval: whatever is wrong, the browser is not redirected. */
export const authorizationRequests: Family<SchoolStand> = {
  name: 'authorization requests',
  async attempts({ origin }) {
    const stranger = await registerApp(origin);
    const base = Object.fromEntries(new URL((await authorizationRequest(stranger)).url).searchParams);
    const page = (name: string, fields: Fields, append = ''): Attempt => ({
      name,
      bytes: request('GET', `/oauth/authorize?${form({ ...base, ...fields })}${append}`, lines('Accept: text/html')),
      expected: { ...refused(400), lacks: /\r\nlocation:|<script>evil|\r\nset-cookie: evil/i },
    });
    return [
      ...[...REFUSED_REDIRECT_URIS, ...NEARLY_REGISTERED].map((uri) =>
        page(`redirect_uri ${JSON.stringify(uri.slice(0, 80))}`, { redirect_uri: uri }),
      ),
      ...BAD_PARAMETERS.map(([what, fields]) => page(what, fields)),
      ...product(
        ['client_id', 'redirect_uri', 'response_type', 'code_challenge', 'code_challenge_method'],
        PAYLOADS,
      ).map(([parameter, [what, payload]]) => page(`${parameter} is ${what}`, { [parameter]: payload })),
      ...Object.keys(base).map((parameter) =>
        parameter === 'resource'
          ? page('resource twice, one of them foreign', {}, '&resource=https%3A%2F%2Fevil.test')
          : page(`${parameter} twice`, {}, `&${parameter}=${encodeURIComponent(base[parameter] ?? '')}x`),
      ),
    ];
  },
};

const TOKEN_CHANGES: readonly (readonly [string, Fields, number, string])[] = [
  ['the password grant', { grant_type: 'password', username: 'x', password: 'y' }, 400, 'unsupported_grant_type'],
  ['client credentials', { grant_type: 'client_credentials' }, 400, 'unsupported_grant_type'],
  ['the implicit grant', { grant_type: 'implicit' }, 400, 'unsupported_grant_type'],
  ['a device code', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code' }, 400, 'unsupported_grant_type'],
  ['an exchange', { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' }, 400, 'unsupported_grant_type'],
  [
    'a JWT',
    { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: 'e30.e30.' },
    400,
    'unsupported_grant_type',
  ],
  ['another case', { grant_type: 'Authorization_Code' }, 400, 'unsupported_grant_type'],
  ['no grant type', { grant_type: undefined }, 400, 'invalid_request'],
  ['no verifier', { code_verifier: undefined }, 400, 'invalid_grant'],
  ['a wrong verifier', { code_verifier: 'a'.repeat(43) }, 400, 'invalid_grant'],
  ['a verifier of 42 characters', { code_verifier: 'a'.repeat(42) }, 400, 'invalid_request'],
  ['a verifier of 129 characters', { code_verifier: 'a'.repeat(129) }, 400, 'invalid_request'],
  ['no redirect URI', { redirect_uri: undefined }, 400, 'invalid_request'],
  ['another redirect URI', { redirect_uri: 'https://evil.test/callback' }, 400, 'invalid_grant'],
  ['no code', { code: undefined }, 400, 'invalid_request'],
  ['an unknown code', { code: 'nothing' }, 400, 'invalid_grant'],
  ['a foreign resource', { resource: 'https://evil.test' }, 400, 'invalid_target'],
  ['a relative resource', { resource: '/mcp' }, 400, 'invalid_target'],
  ['an unknown client', { client_id: 'nobody' }, 401, 'invalid_client'],
  ['a public client with a secret', { client_secret: 'x' }, 401, 'invalid_client'],
];

/** One code, which every attempt redeems incorrectly. None of them may invalidate the code. */
export const tokenRequests: Family<SchoolStand> = {
  name: 'token requests',
  async attempts(stand) {
    const { app, origin } = stand;
    const good = (await approved(app)).form;
    codes.set(stand, good);
    const thief = await registerApp(origin);
    const send = (
      name: string,
      body: string,
      status: number | readonly number[],
      error = '',
      fields = FORM_TYPE,
    ): Attempt => ({
      name,
      bytes: request('POST', '/api/oauth/token', fields, body),
      expected: { statuses: [status], has: new RegExp(`"error":"${error}`), lacks: /access_token|refresh_token"/ },
    });
    return [
      ...TOKEN_CHANGES.map(([what, fields, status, error]) => send(what, form({ ...good, ...fields }), status, error)),
      ...product(['grant_type', 'code', 'redirect_uri', 'client_id', 'code_verifier', 'resource'], PAYLOADS)
        // An empty resource counts as absent, which Profile B allows.
        .filter(([parameter, [, payload]]) => parameter !== 'resource' || payload !== '')
        .map(([parameter, [what, payload]]) =>
          send(`${parameter} is ${what}`, form({ ...good, [parameter]: payload }), [400, 401], ''),
        ),
      ...['grant_type', 'code', 'redirect_uri', 'client_id', 'code_verifier'].map((parameter) =>
        send(
          `${parameter} twice`,
          `${form(good)}&${parameter}=${encodeURIComponent(good[parameter] ?? '')}`,
          400,
          'invalid_request',
        ),
      ),
      send('the code of another app', form({ ...good, client_id: thief.client.client_id }), 400, 'invalid_grant'),
      ...['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/xml', ''].map((type) =>
        send(
          `a body of ${type || 'no type'}`,
          form(good),
          400,
          'invalid_request',
          type === '' ? '' : lines(`Content-Type: ${type}`),
        ),
      ),
      ...['gzip', 'deflate', 'br', 'identity, gzip'].map((coding) =>
        send(
          `a body in ${coding}`,
          form(good),
          415,
          'invalid_request',
          FORM_TYPE + lines(`Content-Encoding: ${coding}`),
        ),
      ),
      ...['Basic', 'Bearer', 'DPoP', 'Digest'].map((scheme) =>
        send(
          `${scheme} authentication`,
          form(good),
          scheme === 'Digest' ? [400, 401] : 401,
          'invalid_',
          FORM_TYPE + lines(`Authorization: ${scheme} ${Buffer.from(`${good.client_id}:x`).toString('base64')}`),
        ),
      ),
      ...PAYLOADS.map(([what, payload]) =>
        send(`a refresh token that is ${what}`, form({ ...refreshForm(app, payload) }), 400, ''),
      ),
      ...['GET', 'PUT', 'DELETE', 'PATCH'].map(
        (method): Attempt => ({
          name: `${method} with everything in the query`,
          bytes: request(method, `/api/oauth/token?${form(good)}`),
          expected: { ...refused(405), lacks: /access_token/ },
        }),
      ),
    ];
  },
  async after(stand) {
    const { status } = await token(stand.app, codes.get(stand) ?? {});
    return status === 200 ? [] : [`the code was not redeemed after all this, but ${status}`];
  },
};
const codes = new Map<SchoolStand, Record<string, string>>();

/** One app tries to introspect, revoke and manage what belongs to another. */
export const foreignTokens: Family<SchoolStand> = {
  name: 'tokens and registrations of other apps',
  async attempts({ app, origin, token: accessToken, profile }) {
    const thief = await registerApp(origin, { confidential: true });
    const secret = String(thief.client.client_secret);
    const mine = { client_id: thief.client.client_id, client_secret: secret };
    const ask = (name: string, path: string, fields: Fields, expected: Attempt['expected']): Attempt => ({
      name,
      bytes: request('POST', path, FORM_TYPE, form(fields)),
      expected,
    });
    const inactive = { statuses: [200], has: /\r\n\r\n\{"active":false\}$/ };
    const own = `/api/oauth/register/${app.client.client_id}`;
    return [
      ...['access_token', 'refresh_token', 'x'].map((hint) =>
        ask(
          `introspection, hinted ${hint}`,
          '/api/oauth/introspect',
          { ...mine, token: accessToken, token_type_hint: hint },
          inactive,
        ),
      ),
      ...PAYLOADS.filter(([, payload]) => payload !== '').map(([what, payload]) =>
        ask(`introspection of ${what}`, '/api/oauth/introspect', { ...mine, token: payload }, inactive),
      ),
      ...product(['/api/oauth/introspect', '/api/oauth/revoke'], PAYLOADS).map(([path, [what, payload]]) =>
        ask(
          `${path} with a secret that is ${what}`,
          path,
          { ...mine, client_secret: payload, token: accessToken },
          refused([400, 401]),
        ),
      ),
      ...['access_token', 'refresh_token', 'x'].map((hint) =>
        // A token of another client gets the same response as an unknown token, or is refused (RFC 7009 section 2.2).
        ask(
          `revocation, hinted ${hint}`,
          '/api/oauth/revoke',
          { ...mine, token: accessToken, token_type_hint: hint },
          refused([200, 400]),
        ),
      ),
      ...product(['GET', 'PUT', 'DELETE'], [
        ['no token', ''],
        ['an access token', lines(`Authorization: Bearer ${accessToken}`)],
        [
          'the registration token of another',
          lines(`Authorization: Bearer ${String(thief.client.registration_access_token)}`),
        ],
        ['a token that is none', lines('Authorization: Bearer x')],
        ['Basic', lines('Authorization: Basic eDp5')],
      ] as const).map(
        ([method, [what, fields]]): Attempt => ({
          name: `${method} of a registration with ${what}, Profile ${profile}`,
          bytes: request(
            method,
            own,
            fields + JSON_TYPE,
            method === 'PUT' ? asciiJson({ redirect_uris: ['https://evil.test/'] }) : '',
          ),
          expected: { ...refused(401), lacks: /redirect_uris|registration_access_token/ },
        }),
      ),
    ];
  },
  async after({ origin, token: accessToken }) {
    const status = await statusOf(origin, accessToken);
    return status === 200 ? [] : [`the token of the other app is answered ${status}`];
  },
};

const BAD_METADATA: readonly (readonly [string, unknown])[] = [
  ['null', null],
  ['a list', []],
  ['a text', 'x'],
  ['no redirect URIs', {}],
  ['redirect URIs that are none', { redirect_uris: [] }],
  ['a redirect URI that is no list', { redirect_uris: 'https://app.example/' }],
  ['a number for a redirect URI', { redirect_uris: [1] }],
  ['300 redirect URIs', { redirect_uris: Array.from({ length: 300 }, (_, at) => `https://a.test/${at}`) }],
  ['a secret that it chooses', { redirect_uris: ['https://a.test/'], grant_types: ['implicit'] }],
  ['the password grant', { redirect_uris: ['https://a.test/'], grant_types: ['password'] }],
  ['client credentials', { redirect_uris: ['https://a.test/'], grant_types: ['client_credentials'] }],
  ['the implicit flow', { redirect_uris: ['https://a.test/'], response_types: ['token'] }],
];

export const registrations: Family<SchoolStand> = {
  name: 'registrations',
  attempts: () => {
    const send = (name: string, body: string, error: RegExp, fields = JSON_TYPE): Attempt => ({
      name,
      bytes: request('POST', '/api/oauth/register', fields, body),
      expected: { ...refused(400), has: error, lacks: /"client_id"/ },
    });
    return [
      ...REFUSED_REDIRECT_URIS.map((uri) =>
        send(
          `redirect URI ${JSON.stringify(uri.slice(0, 80))}`,
          asciiJson({ client_name: 'An app', redirect_uris: ['https://app.example/callback', uri] }),
          /"error":"invalid_redirect_uri"/,
        ),
      ),
      ...BAD_METADATA.map(([what, body]) => send(what, asciiJson(body), /"error":"invalid_/)),
      ...['{', '[', 'x', '"', '{"redirect_uris":', '{}{}', '\xff\xfe', '{"a":NaN}'].map((body) =>
        send(`no JSON: ${JSON.stringify(body)}`, body, /"error":"invalid_/),
      ),
      ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'].map((type) =>
        send(
          `a body of ${type}`,
          '{"redirect_uris":["https://a.test/"]}',
          /"error":"invalid_/,
          lines(`Content-Type: ${type}`),
        ),
      ),
    ];
  },
};

const DOCUMENTS = [
  ...['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration', '/.well-known/jwks.json'],
  ...[
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/openapi.json',
    '/auth.md',
  ],
];
const FORWARDED = [
  ...['X-Forwarded-Host: evil.test', 'X-Forwarded-Proto: evil', 'X-Forwarded-Port: 666', 'X-Forwarded-Prefix: /evil'],
  ...['Forwarded: host=evil.test;proto=https', 'X-Original-URL: /evil', 'X-Rewrite-URL: /evil', 'X-Host: evil.test'],
  ...[
    'X-Forwarded-Server: evil.test',
    'X-HTTP-Host-Override: evil.test',
    'X-Forwarded-For: evil.test',
    'Origin: https://evil.test',
  ],
  ...['Referer: https://evil.test/', 'X-Original-Host: evil.test', 'X-Forwarded-Scheme: evil'],
];

/** No header changes the URLs in the metadata documents (catalogue A004, A005). */
export const forgedDocuments: Family<SchoolStand> = {
  name: 'metadata with forged hosts and headers',
  attempts: () => [
    ...product(DOCUMENTS, FORWARDED).map(
      ([path, field]): Attempt => ({
        name: `${path} with ${field}`,
        bytes: request('GET', path, lines(field)),
        expected: { statuses: [200], lacks: /evil/ },
      }),
    ),
    ...product(DOCUMENTS, ['evil.test', 'evil.test:443', 'localhost.evil.test', '127.0.0.1']).map(
      ([path, host]): Attempt => ({
        name: `${path} of the host ${host}`,
        bytes: `GET ${path} HTTP/1.1\r\n${lines(`Host: ${host}`, 'Connection: close')}\r\n`,
        expected: { statuses: [200], lacks: /evil|127\.0\.0\.1:\d/ },
      }),
    ),
  ],
};
