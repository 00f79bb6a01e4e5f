import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, registerApp } from '../support/app.ts';
import { connect } from '../support/connection.ts';
import { rawRequest } from '../support/raw.ts';
import { startWorld, type World } from '../support/world.ts';

const COURSES = '/api/v1/courses?per_page=1';

describe.each([{ profile: 'A' }, { profile: 'B' }])('a protected route in Profile $profile', ({ profile }) => {
  let world: World;
  let token: string;
  beforeAll(async () => {
    world = await startWorld({ profile });
    token = (await connect(await registerApp(world.origin))).access_token;
  });
  afterAll(() => world.close());

  const metadata = () => `${world.origin}/.well-known/oauth-protected-resource`;

  const expectChallenge = (answer: Response, scope: string) => {
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const challenges = answer.headers.get('www-authenticate') ?? '';
    expect(challenges).toMatch(/^Bearer error="invalid_token", error_description="[^"]+", /);
    expect(challenges).toContain(`, resource_metadata="${metadata()}", scope="${scope}"`);
  };

  it.runIf(profile === 'A')('names the error, the metadata and the scope when there is no token', async () => {
    const answer = await fetch(world.origin + COURSES);
    expectChallenge(answer, 'courses:read');
    expect(answer.headers.get('www-authenticate')).toContain(
      `Bearer error="invalid_token", error_description="an access token is needed", resource_metadata="${metadata()}", scope="courses:read"`,
    );
    expect(await answer.json()).toEqual({ error: 'invalid_token', error_description: 'an access token is needed' });
  });

  it.runIf(profile === 'A')('gives the same answer for a record that exists and one that does not', async () => {
    const answers = await Promise.all(
      ['c-1', 'c-999999'].map(async (id) => (await fetch(`${world.origin}/api/v1/courses/${id}`)).text()),
    );
    expect(answers[0]).toBe(answers[1]);
  });

  it('returns 403 with the granted and the missing scopes when the token lacks a scope', async () => {
    const answer = await fetch(`${world.origin}/api/v1/orders`, { headers: bearer(token) });
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toContain(
      `Bearer error="insufficient_scope", error_description="the access token lacks a scope that is needed here", resource_metadata="${metadata()}", scope="openid profile email account:read courses:read orders:read"`,
    );
    expect(await answer.json()).toEqual({
      error: 'insufficient_scope',
      error_description: 'the access token lacks a scope that is needed here',
    });
  });

  it('names the missing scopes alone to an MCP client of 2026-07-28, which adds those that it has', async () => {
    const scopeFor = async (revision: string) => {
      const headers = { ...bearer(token), 'mcp-protocol-version': revision };
      const answer = await fetch(`${world.origin}/api/v1/orders`, { headers });
      return /scope="([^"]*)"/.exec(answer.headers.get('www-authenticate') ?? '')?.[1];
    };
    for (const revision of ['2026-07-28', '2026-10-31', '2027-01-01'])
      expect(await scopeFor(revision), revision).toBe('orders:read');
    // An earlier revision, and what is none.
    for (const revision of ['2025-11-25', '2026-07-27', '2026-13-01', '2026-08-32', '2026-07-280', 'x2026-07-28'])
      expect(await scopeFor(revision), revision).toBe('openid profile email account:read courses:read orders:read');
  });

  it.each<[string, (token: string) => string | string[]]>([
    ['the scheme alone', () => 'Bearer'],
    ['the scheme and a space', () => 'Bearer '],
    ['the scheme and two spaces', () => 'Bearer  '],
    ['a tab', (good) => `Bearer\t${good}`],
    ['two tokens', (good) => `Bearer ${good} ${good}`],
    ['a comma', (good) => `Bearer ,${good}`],
    ['two schemes', (good) => `Bearer ${good}, Basic eDp5`],
    ['two schemes, the other first', (good) => `Basic eDp5, Bearer ${good}`],
    ['no scheme', (good) => good],
    ['no space', (good) => `Bearer${good}`],
    ['Basic', () => 'Basic eDp5'],
    ['Basic with the token', (good) => `Basic ${good}`],
    ['Token', (good) => `Token ${good}`],
    ['quotes', (good) => `Bearer "${good}"`],
    ['eight kilobytes', () => `Bearer ${'x'.repeat(8000)}`],
    ['bytes beyond ASCII', (good) => `Bearer ${good}é`],
    ['an unknown token', () => 'Bearer unknown'],
    ['a longer token', (good) => `Bearer ${good}x`],
    ['a shorter token', (good) => `Bearer ${good.slice(0, -1)}`],
    ['two fields', (good) => [`Bearer ${good}`, `Bearer ${good}`]],
    ['two fields, one of them Basic', (good) => ['Basic eDp5', `Bearer ${good}`]],
  ])('refuses %s', async (_name, authorization) => {
    const { status, headers, text } = await rawRequest(world.origin, {
      path: COURSES,
      headers: { authorization: authorization(token) as string },
    });
    expect(status).toBe(401);
    expect(headers['www-authenticate']).toContain('Bearer error="invalid_token"');
    expect(headers['www-authenticate']).toContain(`resource_metadata="${metadata()}"`);
    expect(JSON.parse(text)).toEqual({ error: 'invalid_token', error_description: expect.stringMatching(/.{5,}/) });
    expect(text).not.toContain(token);
  });

  it('returns 431 for an Authorization field beyond the header limit, and keeps serving', async () => {
    const headers = { authorization: `Bearer ${'x'.repeat(64_000)}` };
    expect((await rawRequest(world.origin, { path: COURSES, headers })).status).toBe(431);
    expect((await fetch(world.origin + COURSES, { headers: bearer(token) })).status).toBe(200);
  });

  it.each(['bearer', 'BEARER', 'bEaReR'])('accepts the scheme spelled as %s', async (scheme) => {
    const answer = await fetch(world.origin + COURSES, { headers: { authorization: `${scheme} ${token}` } });
    expect(answer.status).toBe(200);
  });

  it.each<[string, (token: string) => { path: string; headers?: Record<string, string> }]>([
    ['the query', (good) => ({ path: `/api/v1/whoami?access_token=${good}` })],
    ['a cookie', (good) => ({ path: '/api/v1/whoami', headers: { cookie: `access_token=${good}` } })],
    ['X-Access-Token', (good) => ({ path: '/api/v1/whoami', headers: { 'x-access-token': good } })],
    [
      'Proxy-Authorization',
      (good) => ({ path: '/api/v1/whoami', headers: { 'proxy-authorization': `Bearer ${good}` } }),
    ],
  ])('ignores a token in %s', async (_name, request) => {
    const { status, text } = await rawRequest(world.origin, request(token));
    if (profile === 'A') expect(status).toBe(401);
    else expect(JSON.parse(text)).toMatchObject({ data: { member_id: null } });
  });

  it('uses the token in the header, whatever the query contains', async () => {
    const good = await fetch(`${world.origin}/api/v1/whoami?access_token=wrong`, { headers: bearer(token) });
    expect(good.status).toBe(200);
    const bad = await fetch(`${world.origin}/api/v1/whoami?access_token=${token}`, { headers: bearer('wrong') });
    expect(bad.status).toBe(401);
  });

  it('ignores a token in a form', async () => {
    const body = new URLSearchParams({ access_token: token });
    const answer = await fetch(`${world.origin}/api/oauth/userinfo`, { method: 'POST', body });
    expectChallenge(answer, 'openid');
  });

  it.runIf(profile === 'B')('serves an anonymous request without any identity header', async () => {
    expect((await fetch(world.origin + COURSES)).status).toBe(200);
    const headers = { 'x-member-id': 'm-1001', 'x-coursegate-assertion': 'x', 'x-client-id': 'x', cookie: 'a=b' };
    const answer = await fetch(`${world.origin}/api/v1/whoami`, { headers });
    expect(answer.status).toBe(200);
    const { data } = (await answer.json()) as { data: { member_id: unknown; headers: Record<string, string> } };
    expect(data.member_id).toBeNull();
    expect(Object.keys(data.headers).filter((name) => /member|client|assert|cookie|authorization/i.test(name))).toEqual(
      [],
    );
  });

  it.each(['GET', 'POST'])('requires a token for userinfo, by %s', async (method) => {
    const url = `${world.origin}/api/oauth/userinfo`;
    expectChallenge(await fetch(url, { method }), 'openid');
    const answer = await fetch(url, { method, headers: bearer(token) });
    expect(await answer.json()).toEqual({ sub: 'm-1001', email: 'student@example.com', name: 'Sam Student' });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});
