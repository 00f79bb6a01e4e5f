import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import * as oauth from 'oauth4webapi';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type App, authorizationRequest, INSECURE, postForm, redeem, registerApp } from '../support/app.ts';
import { createBrowser, type Page } from '../support/browser.ts';
import { approve, offeredScopes, reachConsent, SAM } from '../support/member.ts';
import { type ProofKey, proofKey, signProof } from '../support/proof.ts';
import { startWorld, type World } from '../support/world.ts';

const URN = /^urn:ietf:params:oauth:request_uri:[\w-]{43}$/;

describe.each([
  { profile: 'A', resourceRequired: true },
  { profile: 'B', resourceRequired: false },
])('pushed authorization requests in Profile $profile', ({ profile, resourceRequired }) => {
  let world: World;
  let par: string;
  beforeAll(async () => {
    world = await startWorld({ profile });
    par = `${world.origin}/api/oauth/par`;
  });
  afterAll(() => world.close());

  /** The parameters of an authorization request, as an app would push them. */
  const prepare = async (app: App, parameters: Record<string, string | undefined> = {}) => {
    const request = await authorizationRequest(app, parameters);
    const secret = app.client.client_secret as string | undefined;
    const fields = Object.fromEntries(new URL(request.url).searchParams);
    return { request, fields: secret === undefined ? fields : { ...fields, client_secret: secret } };
  };
  const post = async (fields: Record<string, string | undefined>, headers: Record<string, string> = {}) => {
    const response = await postForm(par, fields, headers);
    return {
      status: response.status,
      headers: response.headers,
      body: (await response.json()) as Record<string, string>,
    };
  };
  const pushed = async (app: App, parameters: Record<string, string | undefined> = {}) => {
    const { request, fields } = await prepare(app, parameters);
    const { status, body } = await post(fields);
    expect([status, body.error_description]).toEqual([201, undefined]);
    return { request, requestUri: String(body.request_uri) };
  };
  const authorizeUrl = (app: App, requestUri: string, more: Record<string, string> = {}) => {
    const query = new URLSearchParams({ client_id: app.client.client_id, request_uri: requestUri, ...more });
    return `${app.server.authorization_endpoint}?${query}`;
  };
  const refusedPage = async (url: string) => {
    const page = await createBrowser().open(url, (location) => location.startsWith(world.origin));
    return [page.status, page.location === undefined ? page.text : new URL(page.location).searchParams.get('error')];
  };

  it.each([
    { kind: 'public', confidential: false },
    { kind: 'confidential', confidential: true },
  ])('a $kind app pushes its request, is approved, and gets what it requested', async ({ confidential }) => {
    const app = await registerApp(world.origin, { confidential });
    expect(app.server.pushed_authorization_request_endpoint).toBe(par);
    expect(app.server.require_pushed_authorization_requests).toBeUndefined();
    const { request, fields } = await prepare(app);
    const answer = await oauth.pushedAuthorizationRequest(app.server, app.client, app.auth, fields, INSECURE);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { request_uri, expires_in } = await oauth.processPushedAuthorizationResponse(app.server, app.client, answer);
    expect(request_uri).toMatch(URN);
    expect(expires_in).toBe(60);

    const returned = await approve(authorizeUrl(app, request_uri), app.redirectUri);
    expect(await redeem(app, request, returned)).toMatchObject({
      token_type: 'bearer',
      scope: 'openid profile email account:read courses:read',
    });
  });

  it('uses the pushed parameters, and ignores any that the URL adds', async () => {
    const app = await registerApp(world.origin);
    const { request, requestUri } = await pushed(app, { scope: 'openid courses:read' });
    const url = authorizeUrl(app, requestUri, {
      scope: 'openid courses:write no:such',
      redirect_uri: 'https://evil.example/',
      state: 'forged',
      resource: 'https://other.example',
    });
    const { page } = await reachConsent(url);
    expect(offeredScopes(page)).toEqual(['courses:read']);
    const again = await pushed(app, { scope: 'openid courses:read' });
    const returned = await approve(authorizeUrl(app, again.requestUri, { scope: 'no:such' }), app.redirectUri);
    expect(returned.origin + returned.pathname).toBe(app.redirectUri);
    expect(await redeem(app, again.request, returned)).toMatchObject({ scope: 'openid courses:read' });
    expect(request.state).not.toBe('forged');
  });

  it('accepts every spelling of the resource', async () => {
    const app = await registerApp(world.origin);
    for (const spelling of [world.origin, `${world.origin}/`]) {
      const { request, requestUri } = await pushed(app, { resource: spelling });
      const returned = await approve(authorizeUrl(app, requestUri), app.redirectUri);
      expect((await redeem(app, request, returned)).access_token).toBeTruthy();
    }
  });

  it('applies the default scope when none is pushed, and ignores offline_access', async () => {
    const app = await registerApp(world.origin);
    for (const scope of [undefined, 'offline_access']) {
      const { requestUri } = await pushed(app, { scope });
      const { page } = await reachConsent(authorizeUrl(app, requestUri));
      expect(offeredScopes(page)).toContain('account:read');
    }
  });

  it.each([
    ['state', 2048],
    ['nonce', 1024],
    ['login_hint', 512],
    ['ui_locales', 512],
    ['acr_values', 512],
    ['claims', 2048],
    ['redirect_uri', 2048],
    ['scope', 2048],
  ])('accepts a %s of %i bytes and refuses a longer one, pushed or in the URL', async (name, longest) => {
    const app = await registerApp(world.origin);
    const said = `${name} is longer than ${longest} bytes`;
    const tooLong = { [name]: `${'é'.repeat(longest / 2)}x` };
    const { fields } = await prepare(app, tooLong);
    const refused = await post(fields);
    expect([refused.status, refused.body]).toEqual([400, { error: 'invalid_request', error_description: said }]);
    const [status, text] = await refusedPage((await authorizationRequest(app, tooLong)).url);
    expect(status).toBe(400);
    expect(text).toContain('invalid_request');
    expect(text).toContain(said);
    const longEnough = { [name]: 'x'.repeat(longest) };
    expect((await post((await prepare(app, longEnough)).fields)).body.error_description ?? '').not.toContain('longer');
  });

  it('accepts a pushed request of 16 KiB and refuses a larger one', async () => {
    const app = await registerApp(world.origin);
    const { fields } = await prepare(app);
    const size = new URLSearchParams(fields as Record<string, string>).toString().length + '&unknown='.length;
    expect((await post({ ...fields, unknown: 'x'.repeat(16_384 - size) })).status).toBe(201);
    const { status, body } = await post({ ...fields, unknown: 'x'.repeat(16_385 - size) });
    expect([status, body.error]).toEqual([413, 'invalid_request']);
  });

  it('accepts a request_uri once', async () => {
    const app = await registerApp(world.origin);
    const { request, requestUri } = await pushed(app);
    const returned = await approve(authorizeUrl(app, requestUri), app.redirectUri);
    expect((await redeem(app, request, returned)).access_token).toBeTruthy();
    const [status, text] = await refusedPage(authorizeUrl(app, requestUri));
    expect(status).toBe(400);
    expect(text).toContain('invalid_request_uri');
  });

  it('accepts a request_uri once, even if two tabs opened it in time', async () => {
    const app = await registerApp(world.origin);
    const { requestUri } = await pushed(app);
    const tabs = [await reachConsent(authorizeUrl(app, requestUri)), await reachConsent(authorizeUrl(app, requestUri))];
    const ends: string[] = [];
    for (const { browser, page } of tabs) {
      const end = await browser.submit(page, { decision: 'approve', scope: offeredScopes(page) }, (location) =>
        location.startsWith(world.origin),
      );
      ends.push(end.location === undefined ? end.text : end.location);
    }
    expect(ends[0]).toContain('code=');
    expect(ends[1]).toContain('invalid_request_uri');
    expect(ends[1]).not.toContain('code=');
  });

  it('refuses a request_uri that it did not issue, or issued to another app', async () => {
    const [app, other] = [await registerApp(world.origin), await registerApp(world.origin)];
    const { requestUri } = await pushed(other);
    const urls = [
      authorizeUrl(app, requestUri),
      authorizeUrl(app, `urn:ietf:params:oauth:request_uri:${'a'.repeat(43)}`),
      authorizeUrl(app, 'https://evil.example/request.jwt'),
    ];
    for (const url of urls) {
      const [status, text] = await refusedPage(url);
      expect(status).toBe(400);
      expect(text).toMatch(/invalid_request_object|invalid_request_uri|request_uri_not_supported/);
    }
    // The attempt of another app does not use it up.
    expect((await approve(authorizeUrl(other, requestUri), other.redirectUri)).searchParams.get('code')).toBeTruthy();
  });

  it.each([
    {
      what: 'a scope that does not exist',
      change: { scope: 'openid no:such' },
      error: 'invalid_scope',
      says: /no:such/,
    },
    {
      what: 'a foreign resource',
      change: { resource: 'https://other.example' },
      error: 'invalid_target',
      says: /send resource=http/,
    },
    {
      what: 'a redirect URI that is not registered',
      change: { redirect_uri: 'https://evil.example/' },
      error: 'invalid_request',
      says: /redirect_uri/,
    },
    {
      what: 'no code_challenge',
      change: { code_challenge: undefined, code_challenge_method: undefined },
      error: 'invalid_request',
      says: /PKCE/,
    },
    {
      what: 'a plain code_challenge',
      change: { code_challenge_method: 'plain' },
      error: 'invalid_request',
      says: /code_challenge_method/,
    },
    {
      what: 'another response_type',
      change: { response_type: 'token' },
      error: 'unsupported_response_type',
      says: /response_type/,
    },
    {
      what: 'a request_uri',
      change: { request_uri: 'urn:x' },
      error: 'request_uri_not_supported',
      says: /request_uri/,
    },
    {
      what: 'a request object',
      change: { request: 'a.b.c' },
      error: 'request_not_supported',
      says: /request parameter/,
    },
  ])('refuses $what at once, in JSON', async ({ change, error, says }) => {
    const { fields } = await prepare(await registerApp(world.origin));
    const { status, headers, body } = await post({ ...fields, ...change });
    expect([status, headers.get('content-type'), body.error]).toEqual([
      400,
      expect.stringMatching(/^application\/json/),
      error,
    ]);
    expect(body.error_description ?? '').toMatch(says);
  });

  it('requires the resource in Profile A, and names it in the error', async () => {
    const { fields } = await prepare(await registerApp(world.origin), { resource: undefined });
    const { status, body } = await post(fields);
    if (resourceRequired) {
      expect({ status, ...body }).toMatchObject({ status: 400, error: 'invalid_target' });
      expect(body.error_description).toContain(`send resource=${world.origin}`);
    } else {
      expect(status).toBe(201);
    }
  });

  it('authenticates the app like the token endpoint', async () => {
    const app = await registerApp(world.origin, { confidential: true });
    const { fields } = await prepare(app);
    const { client_secret: _, ...unauthenticated } = fields as Record<string, string>;
    const basic = (secret: unknown) => `Basic ${Buffer.from(`${app.client.client_id}:${secret}`).toString('base64')}`;
    const attempts = [
      post(unauthenticated, { authorization: basic('wrong') }),
      post(unauthenticated),
      post({ ...fields, client_secret: 'wrong' }),
      post({ ...fields, client_id: 'nobody' }),
      post({ ...unauthenticated, client_id: undefined }),
    ];
    for (const { status, body } of await Promise.all(attempts)) {
      expect([status, body.error]).toEqual([401, 'invalid_client']);
    }
    expect((await post(fields)).status).toBe(201);
    expect((await post(unauthenticated, { authorization: basic(app.client.client_secret) })).status).toBe(201);
  });

  it('accepts only a POST of a form', async () => {
    const got = await fetch(par);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    const json = await fetch(par, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    expect([json.status, ((await json.json()) as { error: string }).error]).toEqual([400, 'invalid_request']);
  });

  it('refuses a repeated parameter', async () => {
    const { fields } = await prepare(await registerApp(world.origin));
    const body = new URLSearchParams(fields as Record<string, string>);
    body.append('scope', 'openid');
    const response = await fetch(par, { method: 'POST', body });
    expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([400, 'invalid_request']);
  });

  describe('with DPoP', () => {
    let key: ProofKey;
    beforeAll(async () => {
      key = await proofKey();
    });
    const parProof = () => signProof(key, { htm: 'POST', htu: par });
    const tokenProof = (by: ProofKey) => signProof(by, { htm: 'POST', htu: `${world.origin}/api/oauth/token` });

    it('binds the code to the key that pushed', async () => {
      const app = await registerApp(world.origin);
      const { request, fields } = await prepare(app);
      const { body } = await post(fields, { dpop: await parProof() });
      const returned = await approve(authorizeUrl(app, String(body.request_uri)), app.redirectUri);
      const form = {
        grant_type: 'authorization_code',
        code: returned.searchParams.get('code') ?? '',
        code_verifier: request.verifier,
        redirect_uri: app.redirectUri,
        client_id: app.client.client_id,
        resource: app.resource,
      };
      const token = async (headers: Record<string, string>) => {
        const response = await postForm(app.server.token_endpoint, form, headers);
        return [response.status, await response.json()];
      };
      expect(await token({})).toMatchObject([400, { error: 'invalid_grant' }]);
      expect(await token({ dpop: await tokenProof(await proofKey()) })).toMatchObject([
        400,
        { error: 'invalid_grant' },
      ]);
      expect(await token({ dpop: await tokenProof(key) })).toMatchObject([200, { token_type: 'DPoP' }]);
    });

    it('accepts one of twenty equal proofs at once', async () => {
      const { fields } = await prepare(await registerApp(world.origin));
      const dpop = await parProof();
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(fields, { dpop })));
      expect(answers.map(({ status, body }) => `${status} ${body.error ?? ''}`).sort()).toEqual([
        '201 ',
        ...Array(19).fill('400 invalid_dpop_proof'),
      ]);
    });
  });
});

describe('an old pushed request', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', clock: () => Date.now() });
  });
  afterAll(() => world.close());
  afterEach(() => {
    vi.useRealTimers();
  });

  const push = async () => {
    const app = await registerApp(world.origin);
    const fields = Object.fromEntries(new URL((await authorizationRequest(app)).url).searchParams);
    const response = await postForm(`${world.origin}/api/oauth/par`, fields);
    const { request_uri } = (await response.json()) as { request_uri: string };
    const url = new URL(app.server.authorization_endpoint ?? '');
    url.search = new URLSearchParams({ client_id: app.client.client_id, request_uri }).toString();
    return { app, url: url.href };
  };
  const pass = (seconds: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + seconds * 1000 });

  it('is refused after a minute', async () => {
    const { url } = await push();
    pass(61);
    const page = await createBrowser().open(url);
    expect([page.status, page.text.includes('invalid_request_uri')]).toEqual([400, true]);
  });

  it('is accepted once, up to half an hour later, when it was opened in time', async () => {
    const { url } = await push();
    const tabs = [createBrowser(), createBrowser()];
    const logins = await Promise.all(tabs.map((browser) => browser.open(url)));
    pass(14 * 60);
    const consents = [];
    for (const [at, browser] of tabs.entries()) {
      consents.push(await browser.submit(logins[at] as Page, { login: SAM.login, password: SAM.password }));
    }
    pass(14 * 60);
    const ends: string[] = [];
    for (const [at, browser] of tabs.entries()) {
      const page = consents[at] as Page;
      const answers = { decision: 'approve', scope: offeredScopes(page) };
      const end = await browser.submit(page, answers, (location) => location.startsWith(world.origin));
      ends.push(end.location ?? end.text);
    }
    expect(ends[0]).toContain('code=');
    expect(ends[1]).toContain('invalid_request_uri');
    expect(ends[1]).not.toContain('code=');
  });

  it('is stored for a minute, and longer only if a member has opened it', async () => {
    const kept = () => {
      const database = new DatabaseSync(join(world.data, 'coursegate.db'), { readOnly: true });
      const rows = database.prepare("SELECT expires_at FROM entry WHERE kind = 'PushedAuthorizationRequest'").all();
      database.close();
      return rows.map(({ expires_at }) => Number(expires_at) - Math.floor(Date.now() / 1000));
    };
    pass(7200);
    const { url } = await push();
    const [left = 0] = kept().filter((seconds) => seconds > 0);
    expect(left).toBeGreaterThan(50);
    expect(left).toBeLessThanOrEqual(60);
    await createBrowser().open(url);
    expect(Math.max(...kept())).toBeGreaterThan(850);
  });

  it('is accepted once after a minute when it was opened in time', async () => {
    const { url } = await push();
    const tabs = [await reachConsent(url), await reachConsent(url)];
    pass(120);
    const ends: string[] = [];
    for (const { browser, page } of tabs) {
      const answers = { decision: 'approve', scope: offeredScopes(page) };
      const end = await browser.submit(page, answers, (location) => location.startsWith(world.origin));
      ends.push(end.location ?? end.text);
    }
    expect(ends[0]).toContain('code=');
    expect(ends[1]).toContain('invalid_request_uri');
  });
});
