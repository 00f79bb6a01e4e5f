import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { connect } from '../support/connection.ts';
import { offeredScopes, reachConsent } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';

type Parameters = Record<string, string | undefined>;

const STATE = `a b+c&d=e%20"'<>#\\ü☃ ${'s'.repeat(300)}`;

describe.each([
  { profile: 'A', required: true },
  { profile: 'B', required: false },
])('an authorization request in Profile $profile', ({ profile, required }) => {
  let world: World;
  let app: App;
  let loopback: App;
  let confidential: App;
  let session: string;
  beforeAll(async () => {
    world = await startWorld({ profile });
    // The member of this browser has approved this app before, so errors are redirected to it.
    app = await registerApp(world.origin);
    const browser = createBrowser();
    await connect(app, { browser });
    confidential = await registerApp(world.origin, { confidential: true });
    await connect(confidential, { browser });
    session = `school_session=${browser.cookies.get('school_session')?.value}`;
    loopback = await registerApp(world.origin, { redirectUri: 'http://127.0.0.1/callback' });
  });
  afterAll(() => world.close());

  const ask = async (parameters: Parameters, append = '', by = app) => {
    const request = await authorizationRequest(by, { state: STATE, ...parameters });
    return fetch(request.url + append, { redirect: 'manual', headers: { accept: 'text/html', cookie: session } });
  };

  const expectRedirect = (answer: Response, error: string, state: string | null = STATE) => {
    expect(answer.status).toBe(303);
    const location = answer.headers.get('location') ?? '';
    expect(location.startsWith('https://app.example/callback')).toBe(true);
    const { search, hash } = new URL(location);
    // A response type that would respond in the fragment gets its errors there too (OAuth 2.0 Multiple Response Type
    // Encoding Practices, section 5).
    const returned = new URLSearchParams(hash === '' ? search : hash.slice(1));
    expect(returned.get('error')).toBe(error);
    expect(returned.get('error_description') ?? 'x').not.toBe('');
    expect(returned.get('iss')).toBe(world.origin);
    expect(returned.get('state')).toBe(state);
    expect(returned.has('code')).toBe(false);
    return returned;
  };

  const expectPage = async (answer: Response) => {
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const text = await answer.text();
    expect(text).toContain('<main id="error">');
    expect(text).not.toMatch(/<script|<img (?!src="\/oauth\/assets\/logo)|evil\.test|\bat \S+\.[jt]s:\d/);
  };

  const expectAccepted = (answer: Response) => {
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^\/oauth\/interaction\/[\w-]+$/);
  };

  it('is accepted when it is valid', async () => {
    const answer = await ask({});
    expectAccepted(answer);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each<[string, Parameters, string]>([
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['an empty challenge', { code_challenge: '' }, 'invalid_request'],
    ['no method, which means plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['s256', { code_challenge_method: 's256' }, 'invalid_request'],
    ['S512', { code_challenge_method: 'S512' }, 'invalid_request'],
    ['a challenge of 42 characters', { code_challenge: 'a'.repeat(42) }, 'invalid_request'],
    ['a challenge of 129 characters', { code_challenge: 'a'.repeat(129) }, 'invalid_request'],
    ['a challenge that is not base64url', { code_challenge: `${'a'.repeat(42)}!` }, 'invalid_request'],
    ['an unknown scope', { scope: 'courses:delete' }, 'invalid_scope'],
    ['an unknown scope beside known ones', { scope: 'openid courses:read COURSES:READ' }, 'invalid_scope'],
    ['scopes joined by a tab', { scope: 'openid\tcourses:read' }, 'invalid_scope'],
    ['a scope with a quote', { scope: 'openid "' }, 'invalid_scope'],
    ['no response type', { response_type: undefined }, 'invalid_request'],
    ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
    ['the hybrid flow', { response_type: 'code id_token', nonce: 'n' }, 'unsupported_response_type'],
    ['an unknown response type', { response_type: 'foo' }, 'unsupported_response_type'],
    ['response type none', { response_type: 'none' }, 'unsupported_response_type'],
    ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['a self-issued registration', { registration: '{}' }, 'registration_not_supported'],
    ['an unknown response mode', { response_mode: 'web_message' }, 'unsupported_response_mode'],
    ['a JWT response mode', { response_mode: 'jwt' }, 'unsupported_response_mode'],
    ['prompt=none without a sign-in', { prompt: 'none' }, 'login_required'],
    ['prompt=none with another', { prompt: 'none login' }, 'invalid_request'],
    ['a negative max_age', { max_age: '-1' }, 'invalid_request'],
    ['a foreign resource', { resource: 'https://evil.test' }, 'invalid_target'],
    ['a relative resource', { resource: '/' }, 'invalid_target'],
    ['a resource that is not a URI', { resource: 'courses' }, 'invalid_target'],
  ])('with %s is refused with a redirect to the app: %3$s', async (_name, parameters, error) => {
    expectRedirect(await ask(parameters), error);
  });

  it.each(['code_challenge', 'code_challenge_method', 'response_type', 'scope', 'nonce', 'prompt'])(
    'with a repeated %s is refused with a redirect to the app',
    async (name) => {
      expectRedirect(await ask({ nonce: 'n', prompt: 'login' }, `&${name}=x`), 'invalid_request');
    },
  );

  it('with a repeated state is refused with a redirect to the app that has neither value', async () => {
    expectRedirect(await ask({}, '&state=x'), 'invalid_request', null);
  });

  it.each<[string, Parameters, string]>([
    ['no client', { client_id: undefined }, ''],
    ['an unknown client', { client_id: '<script>evil.test</script>' }, ''],
    ['an empty client', { client_id: '' }, ''],
    ['a client of 5,000 characters', { client_id: 'x'.repeat(5000) }, ''],
    ['a client with a NUL', { client_id: 'x\0' }, ''],
    ['__proto__ as the client', { client_id: '__proto__' }, ''],
    ['constructor as the client', { client_id: 'constructor' }, ''],
    ['two clients', {}, '&client_id=x'],
    ['no redirect URI', { redirect_uri: undefined }, ''],
    ['an empty redirect URI', { redirect_uri: '' }, ''],
    ['two redirect URIs', {}, '&redirect_uri=https%3A%2F%2Fevil.test%2F'],
    ['another redirect URI', { redirect_uri: 'https://evil.test/"><script>' }, ''],
    ['another path', { redirect_uri: 'https://app.example/callback/' }, ''],
    ['another case', { redirect_uri: 'https://app.example/Callback' }, ''],
    ['another port', { redirect_uri: 'https://app.example:8443/callback' }, ''],
    ['another scheme', { redirect_uri: 'http://app.example/callback' }, ''],
    ['an added query', { redirect_uri: 'https://app.example/callback?x=1' }, ''],
    ['an added fragment', { redirect_uri: 'https://app.example/callback#x' }, ''],
    ['a longer host', { redirect_uri: 'https://app.example.evil.test/callback' }, ''],
    ['user information before the host', { redirect_uri: 'https://app.example@evil.test/callback' }, ''],
    ['dot segments', { redirect_uri: 'https://app.example/callback/../evil' }, ''],
    ['a script', { redirect_uri: 'javascript:alert(1)' }, ''],
  ])('with %s shows the member an error page, without a redirect', async (_name, parameters, append) => {
    await expectPage(await ask(parameters, append));
  });

  it.each([
    { uri: 'http://127.0.0.1:5123/callback', taken: true },
    { uri: 'http://127.0.0.1:1/callback', taken: true },
    { uri: 'http://127.0.0.1/callback', taken: true },
    { uri: 'http://127.0.0.1:5123/other', taken: false },
    { uri: 'http://localhost:5123/callback', taken: false },
    { uri: 'http://[::1]:5123/callback', taken: false },
    { uri: 'http://127.0.0.2:5123/callback', taken: false },
    { uri: 'http://x@127.0.0.1:5123/callback', taken: false },
    { uri: 'https://127.0.0.1:5123/callback', taken: false },
  ])('of an app registered on loopback, with the redirect URI $uri, is accepted: $taken', async ({ uri, taken }) => {
    const answer = await ask({ redirect_uri: uri }, '', loopback);
    if (taken) expectAccepted(answer);
    else await expectPage(answer);
  });

  it.each(['', '/'])('is accepted with the origin followed by "%s" as its resource', async (ending) => {
    expectAccepted(await ask({ resource: world.origin + ending }));
  });

  it.each(['/account/graphql', '/account/graphql/'])(
    'with the resource %s is accepted only where the Account API is served',
    async (path) => {
      const answer = await ask({ resource: world.origin + path });
      if (required) expectAccepted(answer);
      else expectRedirect(answer, 'invalid_target');
    },
  );

  it('accepts the resource with its scheme and host in upper case, and twice in two spellings', async () => {
    expectAccepted(await ask({ resource: world.origin.toUpperCase() }));
    expectAccepted(await ask({}, `&resource=${encodeURIComponent(`${world.origin}/`)}`));
  });

  it.each(['#f', '?x', '/nope', '.evil.test'])(
    'with the origin followed by %s as its resource is refused',
    async (ending) => {
      expectRedirect(await ask({ resource: world.origin + ending }), 'invalid_target');
    },
  );

  it('with a foreign resource is refused with the right one named, even if both were sent', async () => {
    for (const answer of [
      await ask({ resource: 'https://evil.test' }),
      await ask({}, '&resource=https%3A%2F%2Fevil.test'),
    ]) {
      expect(expectRedirect(answer, 'invalid_target').get('error_description')).toContain(`resource=${world.origin}`);
    }
  });

  it(`without a resource is ${required ? 'refused with the right one named' : 'accepted'}`, async () => {
    for (const resource of [undefined, '']) {
      const answer = await ask({ resource });
      if (!required) expectAccepted(answer);
      else
        expect(expectRedirect(answer, 'invalid_target').get('error_description')).toContain(`resource=${world.origin}`);
    }
  });

  it('may contain offline_access, which the consent page does not offer', async () => {
    const { url } = await authorizationRequest(app, { scope: 'openid offline_access courses:read' });
    expect(offeredScopes((await reachConsent(url)).page)).toEqual(['courses:read']);
  });

  it.each([undefined, '', 'offline_access'])('with scope %o requests the default scope', async (scope) => {
    const { url } = await authorizationRequest(app, { scope });
    expect(offeredScopes((await reachConsent(url)).page)).toEqual(['profile', 'email', 'account:read']);
  });

  it('is answered in the response mode that it requests, with headers that forbid framing', async () => {
    const asked = (response_mode: string, by = app) => ask({ response_mode, prompt: 'none' }, '', by);
    const answers = await Promise.all([asked('query'), asked('fragment'), asked('form_post', confidential)]);
    for (const answer of answers) {
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
      expect(answer.headers.get('content-security-policy')).toBe("frame-ancestors 'none'");
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    const [query, fragment, form] = answers;
    expect(query?.headers.get('location')).toMatch(/^https:\/\/app\.example\/callback\?error=login_required&/);
    expect(fragment?.headers.get('location')).toMatch(/^https:\/\/app\.example\/callback#error=login_required&/);
    const page = (await form?.text()) ?? '';
    expect(page).toContain('action="https://app.example/callback"');
    expect(page).toContain('name="error" value="login_required"');
    expect(page).toContain('state" value="a b+c&amp;d=e%20&quot;&#39;&lt;&gt;#');
  });

  it('of an app without a secret is refused in the response mode form_post, which puts the code on a page', async () => {
    const page = await (await ask({ response_mode: 'form_post' })).text();
    expect(page).toContain('name="error" value="invalid_request"');
    expect(page).toContain('value="response_mode=form_post needs a client with a secret: use query"');
    expect(page).not.toContain('name="code"');
    const answer = await ask({ response_mode: 'form_post' }, '', confidential);
    expect(answer.headers.get('location')).toMatch(/^\/oauth\/interaction\//);
  });

  it('that is too long is refused with 431, and the next one is accepted', async () => {
    expect((await ask({ redirect_uri: `https://app.example/${'x'.repeat(20_000)}` })).status).toBe(431);
    expect((await ask({ scope: 'openid '.repeat(10_000).trim() })).status).toBe(431);
    expectAccepted(await ask({}));
  });

  it('cannot make the gate fetch a request_uri', async () => {
    const answer = await ask({ request_uri: 'http://169.254.169.254/latest' });
    expect([303, 400]).toContain(answer.status);
    expect(answer.headers.get('location') ?? '').not.toContain('/oauth/interaction');
  });

  it('cannot add claims to the ID token with the claims parameter', async () => {
    const claims = JSON.stringify({ id_token: { email: { essential: true }, name: null }, userinfo: { email: null } });
    const { id_token } = await connect(app, { parameters: { claims, scope: 'openid profile email' } });
    const { sub, email, name } = decodeJwt(String(id_token)) as Record<string, unknown>;
    expect({ sub, email, name }).toEqual({ sub: 'm-1001', email: undefined, name: undefined });
  });

  it('by POST is answered as by GET, without the cookies that a POST by another site lacks', async () => {
    const { url } = await authorizationRequest(app, { state: STATE });
    const { origin, pathname, search } = new URL(url);
    const posted = await fetch(`${origin}${pathname}?state=of-the-query`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://app.example' },
      body: search.slice(1),
    });
    expect(posted.status).toBe(303);
    expect(posted.headers.getSetCookie()).toEqual([]);
    expect(posted.headers.get('cache-control')).toBe('no-store');
    const location = new URL(posted.headers.get('location') ?? '', origin);
    expect([location.origin, location.pathname]).toEqual([origin, '/oauth/authorize']);
    expect([...location.searchParams]).toEqual([...new URL(url).searchParams]);
    const { page } = await reachConsent(location.href);
    expect(page.text).toContain('<main id="consent">');
  });

  it.each([
    ['JSON', 'application/json', '{}', 400],
    ['more than a URL can hold', 'application/x-www-form-urlencoded', `x=${'y'.repeat(8192)}`, 413],
    ['a state that is too long', 'application/x-www-form-urlencoded', `state=${'y'.repeat(2049)}`, 400],
  ])('by POST with %s is refused on a page', async (_name, type, body, status) => {
    const headers = { 'content-type': type };
    const answer = await fetch(`${world.origin}/oauth/authorize`, {
      method: 'POST',
      redirect: 'manual',
      headers,
      body,
    });
    expect(answer.status).toBe(status);
    expect(await answer.text()).toContain('<main id="error">');
  });

  it.each(['HEAD', 'PUT', 'DELETE'])('by %s is refused, and starts no interaction', async (method) => {
    const { url } = await authorizationRequest(app);
    const answer = await fetch(url, { method, redirect: 'manual' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, POST');
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(answer.headers.get('location')).toBeNull();
  });
});
