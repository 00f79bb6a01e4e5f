import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

/** The smallest configuration, with another whoami or other cookies. */
const withWhoami = (whoami: string) => SMALL.replace('{ path: /api/me }', whoami);
const withCookies = (cookies: string) => SMALL.replace('[school_session]', cookies);
const withLogin = (line: string) => SMALL.replace('  loginUrl: /login\n', `  ${line}\n`);

describe('login.whoami', () => {
  it('is JSON with the ID at /id by default', async () => {
    const { config } = await load(SMALL);
    expect(config.login).toHaveProperty('whoami', {
      path: '/api/me',
      format: 'json',
      subject: '/id',
      anonymous: { statuses: [401, 403], redirects: true, values: [], absent: false },
    });
  });

  it.each<[string, string]>([
    ['{ path: api/me }', 'must begin with /'],
    ['{ path: "/api/me x" }', 'must begin with /'],
    ['{ path: /me, subject: id }', 'must be a JSON pointer such as /user/id'],
    ['{ path: /me, email: /a~2 }', 'must be a JSON pointer such as /user/id'],
    ['{ path: /me, anonymous: { at: user } }', 'must be a JSON pointer such as /user/id'],
    ['{ path: /me, format: header }', 'login.whoami.subject: is missing'],
    ['{ path: /me, format: header, subject: "X Member" }', 'must be a header name'],
    ['{ path: /me, format: html, subject: "(a" }', 'is not a valid RE2 pattern: missing closing ): `(a`'],
    ['{ path: /me, format: html, subject: "(?<=id)(a)" }', 'is not a valid RE2 pattern: invalid named capture'],
    ['{ path: /me, format: html, subject: "abc" }', 'must have exactly one capturing group (…) but has 0'],
    ['{ path: /me, format: html, subject: "(a)(b)" }', 'must have exactly one capturing group (…) but has 2'],
    ['{ path: /me, format: html, subject: "(?:(?:a{0,50}){0,20})(b)" }', 'is too complex a pattern'],
    ['{ path: /me, format: html, subject: "(a)", version: "b" }', 'must have exactly one capturing group (…)'],
    ['{ path: /me, anonymous: { body: "(" } }', 'is not a valid RE2 pattern'],
    ['{ path: /me, anonymous: { redirects: "(" } }', 'is not a valid RE2 pattern'],
    ['{ path: /me, anonymous: { statuses: [200] } }', 'must be at least 400'],
    ['{ path: /me, anonymous: { statuses: [500] } }', 'must be at most 499'],
    ['{ path: /me, format: xml }', 'must be one of json, header, html'],
  ])('refuses %s: %s', async (whoami, message) => {
    const found = await mistakes(withWhoami(whoami));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('login.whoami');
    expect(found[0]).toContain(message);
  });

  it('accepts one capture group and non-capturing groups', async () => {
    const { config } = await load(withWhoami(`{ path: /me, format: html, subject: 'id="(?:m|n)-(\\d+)"' }`));
    expect(config.login).toHaveProperty('whoami.subject', 'id="(?:m|n)-(\\d+)"');
  });
});

describe('login', () => {
  it.each<[string, string]>([
    ['["*"]', 'must be more specific than *'],
    ['["***"]', 'must be more specific than *'],
    ['[coursegate_session]', 'is a cookie of coursegate itself'],
    ['["coursegate_*"]', 'is a cookie of coursegate itself'],
    ['["a b"]', 'must be a cookie name'],
    ['[]', 'must not be empty'],
  ])('refuses cookies %s: %s', async (cookies, message) => {
    expect(await mistakes(withCookies(cookies))).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    'loginUrl: //evil.example/login',
    'loginUrl: /\\evil.example',
    'loginUrl: "javascript:alert(1)"',
    'loginUrl: login',
  ])('refuses %s', async (line) => {
    expect(await mistakes(withLogin(line))).toEqual([expect.stringContaining('must be a path or an http(s) URL')]);
  });
});

describe('login.recheck', () => {
  const withRecheck = (recheck: string) =>
    SMALL.replace('  loginUrl: /login\n', `  loginUrl: /login\n  recheck: ${recheck}\n`);

  it('runs once an hour and refuses when in doubt, by default', async () => {
    const { config } = await load(withRecheck('{ upstream: school, path: "/members/{member.id}" }'));
    expect(config.login).toHaveProperty('recheck', {
      upstream: 'school',
      path: '/members/{member.id}',
      interval: 3600,
      timeout: 3,
      format: 'json',
      gone: [404, 410],
      unavailable: 'refuse',
    });
  });

  it.each<[string, string]>([
    ['{ upstream: shcool, path: "/m/{member.id}" }', 'there is no upstream "shcool"'],
    ['{ upstream: school, path: /members }', 'must contain {member.id}'],
    ['{ upstream: school, path: "m/{member.id}" }', 'must begin with /'],
    ['{ upstream: school, path: "/m/{member.id}/{member.email}" }', 'must not contain { } or # except in {member.id}'],
    ['{ upstream: school, path: "/m/{member.id}", active: on }', 'must be a JSON pointer'],
    [
      '{ upstream: school, path: "/m/{member.id}", key: { secret: hunter2-hunter2-hunter2 } }',
      'secrets are never written in this file',
    ],
    ['{ upstream: school, path: "/m/{member.id}", key: { secret: { env: NOT_SET } } }', 'NOT_SET is not set'],
    ['{ upstream: school, path: "/m/{member.id}", key: { secret: { env: SHORT } } }', 'must have at least 16 visible'],
    ['{ upstream: school, path: "/m/{member.id}", key: { secret: { env: LINES } } }', 'must have at least 16 visible'],
    [
      '{ upstream: school, path: "/m/{member.id}", key: { header: X-Forwarded-For, secret: { env: GOOD } } }',
      'is a header field that coursegate sets itself',
    ],
    [
      '{ upstream: school, path: "/m/{member.id}", key: { header: Cookie, secret: { env: GOOD } } }',
      'is a header field that coursegate sets itself',
    ],
    [
      '{ upstream: school, path: "/m/{member.id}", key: { header: X-Member-Id, secret: { env: GOOD } } }',
      'is a header field that coursegate sets itself',
    ],
  ])('refuses %s: %s', async (recheck, message) => {
    const environment = { SHORT: 'hunter2', LINES: 'hunter2-hunter2\nhunter2-hunter2', GOOD: 'k'.repeat(32) };
    const found = await mistakes(withRecheck(recheck), { environment });
    expect(found).toEqual([expect.stringContaining(message)]);
    expect(found.join()).not.toContain('hunter2');
  });
});
