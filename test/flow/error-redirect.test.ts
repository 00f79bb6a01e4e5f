import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, postForm, registerApp, revoke } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { startWorld, type World } from '../support/world.ts';

type Parameters = Record<string, string | undefined>;

const WRONG: readonly [string, Parameters, string][] = [
  ['a scope with a quote', { scope: 'bad"' }, 'invalid_scope'],
  ['an unknown scope', { scope: 'courses:delete' }, 'invalid_scope'],
  ['the implicit flow', { response_type: 'token' }, 'unsupported_response_type'],
  ['prompt=none', { prompt: 'none' }, 'login_required'],
  ['a foreign resource', { resource: 'https://evil.test' }, 'invalid_target'],
  ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
];

/** RFC 9700 §4.11.2: whoever can register an app must not get a redirector to any address out of it. */
describe('a wrong authorization request', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
  });
  afterAll(() => world.close());

  const ask = async (app: App, parameters: Parameters) => {
    const { url } = await authorizationRequest(app, parameters);
    return fetch(url, { redirect: 'manual', headers: { accept: 'text/html' } });
  };
  const expectPage = async (answer: Response, error: string) => {
    expect(answer.status).toBe(400);
    expect(answer.headers.get('location')).toBeNull();
    const text = await answer.text();
    expect(text).toContain('<main id="error">');
    expect(text).toContain(`<code>${error}</code>`);
    // The app is named, with where it wanted the member sent, as text and never as a way there.
    expect(text).toContain('<bdi>Test App</bdi>');
    expect(text).not.toMatch(/(?:href|src|action|url)="?[^">]*app\.example/);
  };
  const expectRedirect = (answer: Response, redirectUri: string, error: string) => {
    expect(answer.status).toBe(303);
    const location = answer.headers.get('location') ?? '';
    expect(location.startsWith(redirectUri)).toBe(true);
    const { search, hash } = new URL(location);
    expect(new URLSearchParams(hash === '' ? search : hash.slice(1)).get('error')).toBe(error);
  };

  it.each(WRONG)('with %s, of an app that nobody has approved, goes nowhere', async (_name, parameters, error) => {
    for (const redirectUri of ['https://app.example/callback', 'com.example.app:/callback']) {
      await expectPage(await ask(await registerApp(world.origin, { redirectUri }), parameters), error);
    }
  });

  it.each(WRONG)('with %s, of an app on the member’s computer, is answered there', async (_name, parameters, error) => {
    for (const redirectUri of ['http://127.0.0.1:5123/callback', 'http://localhost:5123/cb', 'http://[::1]:5123/cb']) {
      expectRedirect(await ask(await registerApp(world.origin, { redirectUri }), parameters), redirectUri, error);
    }
  });

  it.each(['query', 'fragment', 'form_post'])('in the mode %s goes nowhere either', async (response_mode) => {
    const app = await registerApp(world.origin);
    const answer = await ask(app, { response_mode, scope: 'courses:delete' });
    expect(await answer.clone().text()).toContain('<dd dir="ltr">app.example</dd>');
    await expectPage(answer, 'invalid_scope');
  });

  it('is answered to an app from its first approval on, and no more once that is revoked', async () => {
    const app = await registerApp(world.origin);
    const wrong = { scope: 'courses:delete' };
    await expectPage(await ask(app, wrong), 'invalid_scope');
    const tokens = await connect(app);
    expectRedirect(await ask(app, wrong), app.redirectUri, 'invalid_scope');
    await expectPage(await ask(await registerApp(world.origin), wrong), 'invalid_scope');
    await revoke(app, String(tokens.refresh_token));
    await expectPage(await ask(app, wrong), 'invalid_scope');
  });

  it('that was pushed is not answered to a stranger either', async () => {
    const app = await registerApp(world.origin);
    const { url } = await authorizationRequest(app, { prompt: 'none' });
    const pushed = await postForm(
      app.server.pushed_authorization_request_endpoint,
      Object.fromEntries(new URL(url).searchParams),
    );
    expect(pushed.status).toBe(201);
    const { request_uri } = (await pushed.json()) as { request_uri: string };
    const by = new URLSearchParams({ client_id: app.client.client_id, request_uri });
    const answer = await fetch(`${world.origin}/oauth/authorize?${by}`, { redirect: 'manual' });
    expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
      status: 400,
      location: null,
    });
  });
});
