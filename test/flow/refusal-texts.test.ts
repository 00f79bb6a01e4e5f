import * as oauth from 'oauth4webapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, INSECURE, postForm, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { approved, connect, refreshForm, type Tokens } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

type Parameters = Record<string, string | undefined>;
interface Said {
  readonly error: string | null;
  readonly error_description: string | null;
}

/** The characters of error_description (RFC 6749 section 5.2). */
const READABLE = /^[\x20-\x21\x23-\x5B\x5D-\x7E]{10,}$/;
const NO_PKCE = { code_challenge: undefined, code_challenge_method: undefined };

/** Everything that an authorization request can be refused for, at the authorization endpoint and when it is pushed. */
const REQUESTS: [what: string, parameters: Parameters, append?: string][] = [
  ['a request object', { request: 'e30.e30.' }],
  ['a request_uri that was not pushed', { request_uri: 'https://app.example/request.jwt' }],
  ['a registration', { registration: '{}' }],
  ['no PKCE', NO_PKCE],
  ['no challenge', { code_challenge: undefined }],
  ['no method', { code_challenge_method: undefined }],
  ['plain PKCE', { code_challenge_method: 'plain' }],
  ['a short challenge', { code_challenge: 'short' }],
  ['a long challenge', { code_challenge: 'a'.repeat(129) }],
  ['a challenge with a quote', { code_challenge: `${'a'.repeat(42)}"` }],
  ['no response type', { response_type: undefined }],
  ['an unknown response type', { response_type: 'to"ken\\' }],
  ['an unknown response mode', { response_mode: 'we"b\\' }],
  ['an unknown prompt', { prompt: 'pl"ease\\' }],
  ['prompt none with another', { prompt: 'none login' }],
  ['a bad max_age', { max_age: '-1' }],
  ['an unknown scope', { scope: 'openid no:such' }],
  ['a scope with a quote', { scope: 'open"id\\ \u00e9' }],
  ['a foreign resource', { resource: 'https://e"vil.test/\\\u00e9' }],
  ['a resource that is no URL', { resource: 'courses' }],
  ['a bad id_token_hint', { id_token_hint: 'e30.e30.' }],
  ['a parameter that is too long', { login_hint: 'x'.repeat(600) }],
  ['another redirect URI', { redirect_uri: 'https://evil.test/"' }],
  ['no redirect URI', { redirect_uri: undefined, scope: 'no:such' }],
  ['an unknown client', { client_id: 'nobody "\\ \u00e9' }],
  ['no client', { client_id: undefined }],
  ['a client that is a bad URL', { client_id: 'https://localhost/client.json' }],
  ['the response type twice', {}, '&response_type=code'],
  ['the client twice', {}, '&client_id=x'],
  ['the state twice', {}, '&state=x'],
];

describe.each([{ profile: 'A' }, { profile: 'B' }])('a refusal in Profile $profile', ({ profile }) => {
  let world: World;
  let app: App;
  let loopback: App;
  let confidential: App;
  let tokens: Tokens;
  let cookie: string;
  beforeAll(async () => {
    world = await startWorld({ profile });
    app = await registerApp(world.origin);
    loopback = await registerApp(world.origin, {
      redirectUri: 'http://127.0.0.1/callback',
    });
    confidential = await registerApp(world.origin, { confidential: true });
    const browser = createBrowser();
    tokens = (await connect(app, { browser })) as unknown as Tokens;
    cookie = `school_session=${browser.cookies.get('school_session')?.value}`;
  });
  afterAll(() => world.close());

  const expectReadable = ({ error, error_description: description }: Said) => {
    expect(error).toMatch(/^[a-z_]+$/);
    expect(description).toMatch(READABLE);
    return description ?? '';
  };
  const json = async (response: Response): Promise<Said> => {
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/json\b/);
    return (await response.json()) as Said;
  };
  /** What the authorization endpoint says: at the app's address, in a form for it, or on a page for the member. */
  const authorize = async (by: App, parameters: Parameters, append = ''): Promise<Said> => {
    const { url } = await authorizationRequest(by, parameters);
    const answer = await fetch(url + append, {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie },
    });
    const location = answer.headers.get('location');
    if (location !== null) {
      const { search, hash } = new URL(location, world.origin);
      const returned = new URLSearchParams(hash === '' ? search : hash.slice(1));
      return {
        error: returned.get('error'),
        error_description: returned.get('error_description'),
      };
    }
    const page = (await answer.text())
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&amp;', '&');
    const field = (name: string) => new RegExp(`name="${name}" value="(.*)"/>`).exec(page)?.[1];
    return {
      error: field('error') ?? /<code lang="en" dir="ltr">([a-z_]+)/.exec(page)?.[1] ?? null,
      error_description:
        field('error_description') ?? /<code lang="en" dir="ltr">[a-z_]+: (.*)\n/.exec(page)?.[1] ?? null,
    };
  };
  const push = async (parameters: Parameters, append = ''): Promise<Said> => {
    const { url } = await authorizationRequest(app, parameters);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = new URL(url).search.slice(1) + append;
    return json(
      await fetch(`${world.origin}/api/oauth/par`, {
        method: 'POST',
        headers,
        body,
      }),
    );
  };
  const token = async (form: Parameters, append = ''): Promise<Said> => {
    const filled = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = String(new URLSearchParams(filled)) + append;
    return json(
      await fetch(String(app.server.token_endpoint), {
        method: 'POST',
        headers,
        body,
      }),
    );
  };

  it.each<[string, Parameters, string?]>(REQUESTS)(
    'of a request with %s has a readable description, redirected or pushed',
    async (_, parameters, append) => {
      const { client_id, redirect_uri } = parameters;
      expectReadable(await authorize(app, parameters, append));
      expectReadable(await authorize(loopback, parameters, append));
      expectReadable(await push(parameters, append));
      if (client_id === undefined && redirect_uri === undefined) {
        for (const response_mode of ['fragment', 'form_post']) {
          expectReadable(await authorize(loopback, { response_mode, ...parameters }, append));
        }
      }
    },
  );

  it.each([
    ['request_not_supported', { request: 'e30.e30.' }, 'request'],
    ['request_uri_not_supported', { request_uri: 'https://app.example/request.jwt' }, 'request_uri'],
    ['registration_not_supported', { registration: '{}' }, 'registration'],
  ])('with %s names the parameter, however it is returned', async (error, parameters, name) => {
    const answers = [
      await authorize(app, parameters),
      await authorize(loopback, {
        ...parameters,
        response_mode: 'fragment',
      }),
      await authorize(loopback, {
        ...parameters,
        response_mode: 'form_post',
      }),
      await push(parameters),
    ];
    for (const answer of answers) {
      expect(answer.error).toBe(error);
      expect(expectReadable(answer).split(' ')).toContain(name);
    }
  });

  it.each<[string, Parameters]>([
    ['no PKCE', NO_PKCE],
    ['no challenge', { code_challenge: undefined }],
    ['no method', { code_challenge_method: undefined }],
    ['plain PKCE', { code_challenge_method: 'plain' }],
    ['a short challenge', { code_challenge: 'short' }],
    ['a challenge with an invalid character', { code_challenge: `${'a'.repeat(42)}!` }],
  ])('because of %s names code_challenge and S256', async (_, parameters) => {
    for (const answer of [await authorize(app, parameters), await push(parameters)]) {
      expect(answer.error).toBe('invalid_request');
      expect(expectReadable(answer)).toMatch(/\bcode_challenge\b.*\bS256\b/);
    }
  });

  it('because of a code_verifier names it, code_challenge and S256', async () => {
    const { form } = await approved(app);
    const verifiers = [undefined, 'short', 'a'.repeat(129), `${'a'.repeat(42)}!`, 'a'.repeat(43)];
    for (const code_verifier of verifiers) {
      const description = expectReadable(await token({ ...form, code_verifier }));
      expect(description).toMatch(/^code_verifier\b/);
      expect(description).toMatch(/\bcode_challenge\b/);
      expect(description).toMatch(/\bS256\b/);
    }
  });

  it('at the token endpoint has a readable description', async () => {
    const { form } = await approved(app);
    const secret = (await approved(confidential)).form;
    const foreign = refreshForm(loopback, tokens.refresh_token);
    const forms: readonly Parameters[] = [
      {},
      { ...form, grant_type: undefined },
      { ...form, grant_type: 'pass"word\\' },
      { ...form, client_id: undefined },
      { ...form, client_id: 'nobody "\\ \u00e9' },
      { ...form, client_id: 'https://localhost/client.json' },
      { ...form, client_secret: 'x"' },
      { ...secret, client_secret: 'wrong' },
      { ...secret, client_secret: undefined },
      { ...form, code: undefined },
      { ...form, code: 'un"known\\' },
      { ...form, redirect_uri: undefined },
      { ...form, redirect_uri: 'https://evil.test/"' },
      { ...form, resource: 'https://e"vil.test/\\\u00e9' },
      { ...form, resource: 'courses' },
      { ...refreshForm(app, 'un"known\\') },
      { ...refreshForm(app, tokens.refresh_token), refresh_token: undefined },
      {
        ...refreshForm(app, tokens.refresh_token),
        scope: 'openid no"such\\',
      },
      {
        ...refreshForm(app, tokens.refresh_token),
        scope: 'openid courses:write',
      },
      {
        ...refreshForm(app, tokens.refresh_token),
        resource: 'https://evil.test',
      },
      foreign,
    ];
    for (const sent of forms) expectReadable(await token(sent));
    for (const name of ['grant_type', 'client_id', 'code']) expectReadable(await token(form, `&${name}=x`));
    const proof = await postForm(String(app.server.token_endpoint), form, {
      dpop: 'no"proof\\',
    });
    expectReadable(await json(proof));
    const plain = await fetch(String(app.server.token_endpoint), {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'te"xt/plain' },
    });
    expectReadable(await json(plain));
    expectReadable(await json(await fetch(String(app.server.token_endpoint))));
  });

  it.each(['revocation_endpoint', 'introspection_endpoint'] as const)(
    'at the %s has a readable description',
    async (endpoint) => {
      const url = String(app.server[endpoint]);
      const by = { client_id: app.client.client_id };
      const forms: readonly Record<string, string>[] = [
        {},
        by,
        { token: 'x' },
        { ...by, client_id: 'nobody "\\ \u00e9', token: 'x' },
        { ...by, client_secret: 'x"', token: 'x' },
        { client_id: confidential.client.client_id, token: 'x' },
        { client_id: 'https://localhost/client.json', token: 'x' },
      ];
      for (const form of forms) expectReadable(await json(await postForm(url, form)));
      expectReadable(await json(await postForm(url, { ...by, token: 'x' }, { authorization: 'Basic eDp5' })));
      expectReadable(await json(await fetch(url)));
    },
  );

  it('of a registration has a readable description in which quotes and control characters are replaced', async () => {
    const url = String(app.server.registration_endpoint);
    const good = { redirect_uris: ['https://app.example/callback'] };
    const bodies: readonly unknown[] = [
      {},
      [],
      { redirect_uris: 'x"' },
      { redirect_uris: ['javascript:"\\'] },
      { redirect_uris: ['http://evil.test/"\\\u00e9'] },
      { ...good, client_name: '\u0000"' },
      { ...good, logo_uri: 'x"\\' },
      { ...good, token_endpoint_auth_method: 'private"_key\\' },
      { ...good, grant_types: ['pass"word\\'] },
      { ...good, grant_types: 'x' },
      { ...good, response_types: ['to"ken\\\u00e9'] },
      { ...good, response_modes: ['"\\'] },
      { ...good, contacts: ['"', 1] },
      { ...good, contacts: '"\\' },
      { ...good, default_max_age: '"' },
      { ...good, require_auth_time: '"' },
      { ...good, software_id: '\u00e9' },
    ];
    for (const body of bodies) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(url, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      if (answer.status !== 201) expectReadable(await json(answer));
    }
    for (const body of ['{', '"', '{"a":1,"a":2}', '\u00ff']) {
      const headers = { 'content-type': 'application/json' };
      expectReadable(await json(await fetch(url, { method: 'POST', headers, body })));
    }
    expectReadable(
      await json(
        await fetch(url, {
          method: 'POST',
          headers: { 'content-type': 'text/plain' },
          body: '{}',
        }),
      ),
    );
    for (const headers of [{}, { authorization: 'Bearer x"' }, { authorization: 'Basic eDp5' }]) {
      for (const id of [app.client.client_id, 'no"body']) {
        const client = `${url}/${encodeURIComponent(id)}`;
        expectReadable(
          await json(
            await fetch(client, {
              headers: headers as Record<string, string>,
            }),
          ),
        );
      }
    }
  });

  it('of userinfo has a readable description in WWW-Authenticate', async () => {
    const url = String(app.server.userinfo_endpoint);
    for (const headers of [
      {},
      { authorization: 'Bearer x' },
      { authorization: 'DPoP x' },
      { authorization: 'Basic eDp5' },
    ]) {
      const answer = await fetch(url, {
        headers: headers as Record<string, string>,
      });
      expect(answer.status).toBe(401);
      const field = answer.headers.get('www-authenticate') ?? '';
      expect(/error_description="([^"]*)"/.exec(field)?.[1]).toMatch(READABLE);
      expectReadable((await answer.json()) as Said);
    }
  });

  it('of a wrong secret in Basic can be read by oauth4webapi, which shows only the header', async () => {
    const client = { client_id: confidential.client.client_id };
    const wrong = oauth.ClientSecretBasic('x');
    for (const answer of [
      await oauth.refreshTokenGrantRequest(app.server, client, wrong, 'x', INSECURE),
      await oauth.revocationRequest(app.server, client, wrong, 'x', INSECURE),
      await oauth.introspectionRequest(app.server, client, wrong, 'x', INSECURE),
      await oauth.pushedAuthorizationRequest(app.server, client, wrong, {}, INSECURE),
    ]) {
      const thrown = await oauth
        .processRefreshTokenResponse(app.server, client, answer)
        .catch((error: unknown) => error);
      expect(thrown).toBeInstanceOf(oauth.WWWAuthenticateChallengeError);
      const [challenge] = (thrown as oauth.WWWAuthenticateChallengeError).cause;
      expect(challenge).toEqual({
        scheme: 'basic',
        parameters: { realm: world.origin, error: 'invalid_client', error_description: 'client authentication failed' },
      });
    }
  });
});
