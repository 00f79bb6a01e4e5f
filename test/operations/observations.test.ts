import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { callerOf } from '../../src/operations/observe/caller.ts';
import { createObservations, type Seen } from '../../src/operations/observe/observations.ts';
import { pathTemplate } from '../../src/operations/observe/path-template.ts';
import { suggestScope } from '../../src/operations/observe/suggested-scope.ts';

const seen = (path: string, more: Partial<Seen> = {}): Seen => ({
  method: 'GET',
  path,
  route: undefined,
  refusal: 'no_route',
  signedIn: true,
  caller: 'session',
  status: 200,
  mediaType: 'application/json',
  ...more,
});

describe('a path template', () => {
  it.each([
    ['/api/v1/courses/42', '/api/v1/courses/*'],
    ['/api/courses/5f3a9c1e-1111-4222-8333-123456789abc/lessons', '/api/courses/*/lessons'],
    ['/calendar/2026-11-21', '/calendar/*'],
    ['/o/deadbeef01', '/o/*'],
    ['/u/sam%40example.com', '/u/*'],
    ['/u/@sam', '/u/*'],
    ['/u/sam;v=b', '/u/*'],
    ['/t/eyJhbGciOiJIUzI1NiJ9', '/t/*'],
    ['/t/QxRtYuIoPlKjHgFdSa', '/t/*'],
    ['/s/stu_1a2b3c4d5e', '/s/*'],
    ['/wp-json/coursegate/v1/me', '/wp-json/coursegate/v1/me'],
    ['/api/oauth2/userProfileSettings/', '/api/oauth2/userProfileSettings/'],
    ['/', '/'],
    // At the limits of each rule.
    [`/${'a-'.repeat(20)}`, `/${'a-'.repeat(20)}`],
    [`/${'a-'.repeat(20)}b`, '/*'],
    ...['a*b', 'a{b', 'a}b', 'a:b'].map((segment): [string, string] => [`/x/${segment}`, '/x/*']),
    ['/1.5/1,5/1_5/v-1', '/*/*/*/v-1'],
    ['/DEADBEEF-cafe-x', '/*'],
    ['/deadbeef-caf-x/xdeadbeef-cafe-x', '/deadbeef-caf-x/xdeadbeef-cafe-x'],
    ['/cafe1/decade12', '/cafe1/*'],
    ['/decade1/facefeed', '/decade1/facefeed'],
    ['/course-of-1/course-of-12', '/course-of-1/*'],
    ['/step-by-step-guide', '/step-by-step-guide'],
    ['/year99/y100', '/year99/*'],
    ['/aBcDeFgHiJkLmNo/aBcDeFgHiJkLmNop', '/aBcDeFgHiJkLmNo/*'],
    ['/courseofTheMonths/ABCDEFGHIJKLMNOPQR', '/courseofTheMonths/ABCDEFGHIJKLMNOPQR'],
  ])('of %s is %s', (path, template) => {
    expect(pathTemplate(path)).toBe(template);
  });
});

describe('the caller of a request', () => {
  const caller = (url: string, headers: IncomingHttpHeaders, known = {}) =>
    callerOf({ url, headers } as IncomingMessage, {
      ...{ origin: 'https://school.example', isApp: false, hasSession: false },
      ...known,
    });

  it('is a page by each field that scripts send, and by its own origin only', () => {
    const fields =
      'x-requested-with x-wp-nonce x-csrf-token x-csrftoken x-xsrf-token x-frappe-csrf-token x-livewire x-inertia hx-request turbo-frame';
    const given: IncomingHttpHeaders[] = [
      ...fields.split(' ').map((name) => ({ [name]: '1' })),
      ...['same-origin', 'same-site'].map((site) => ({ 'sec-fetch-site': site })),
      { origin: 'https://school.example' },
      { referer: 'https://school.example/' },
    ];
    expect(given.filter((headers) => caller('/x', headers) !== 'page')).toEqual([]);
    const others: IncomingHttpHeaders[] = [
      { 'sec-fetch-site': 'not-same-origin' },
      { 'sec-fetch-site': 'same-origins' },
      { referer: 'https://school.example.evil.example/' },
      { referer: 'https://other.example/https://school.example/' },
    ];
    expect(others.filter((headers) => caller('/x', headers) !== 'other')).toEqual([]);
  });

  it('has credentials by each name of a key, whatever else it sends', () => {
    const also = { 'content-type': 'multipart/form-data; boundary=x', 'x-livewire': '1' };
    for (const name of ['consumer_key', 'oauth_consumer_key', 'wstoken', 'apikey', 'API_KEY', 'access_token'])
      for (const before of ['?', '?a=b&']) expect(caller(`/x${before}${name}=1`, also), name).toBe('credentials');
    for (const name of ['authorization', 'x-api-key'])
      expect(caller('/x', { ...also, [name]: '1' })).toBe('credentials');
    for (const url of ['/wstoken=1', '/x?my_wstoken=1', '/x?wstoken'])
      expect(caller(url, also, { hasSession: true }), url).toBe('form');
    expect(caller('/x', { authorization: 'Bearer ours' }, { isApp: true })).toBe('app');
    expect(caller('/x', { 'content-type': 'x/multipart/form-data' }, { hasSession: true })).toBe('session');
    expect(caller('/x', { 'content-type': 'MULTIPART/form-data' })).toBe('form');
  });
});

describe('the observations', () => {
  it('stay bounded with a hundred thousand different paths of any shape', () => {
    const ids = createObservations();
    for (let at = 0; at < 100_000; at += 1) ids.note(seen(`/api/courses/${at}/lessons/${at * 7}`));
    expect(ids.all()).toMatchObject([{ pattern: '/api/courses/*/lessons/*', requests: 100_000 }]);

    const word = (number: number) =>
      [...String(number)].map((digit) => String.fromCharCode(97 + Number(digit))).join('');
    const words = createObservations();
    for (let at = 0; at < 100_000; at += 1) words.note(seen(`/blog/${word(at)}`));
    expect(words.all()).toMatchObject([{ pattern: '/blog/*', requests: 100_000 }]);

    const hostile = createObservations();
    for (let at = 0; at < 100_000; at += 1) hostile.note(seen(`/${word(at)}/${word(at * 3)}/${word(at * 7)}`));
    const kept = hostile.all();
    expect(kept.length).toBeLessThanOrEqual(2000);
    expect(hostile.dropped() + kept.reduce((sum, { requests }) => sum + requests, 0)).toBe(100_000);
  });

  it('ignore scanners that only get 404', () => {
    const all = createObservations();
    for (let at = 0; at < 5000; at += 1)
      all.note(seen(`/x${'abcdefghij'[at % 10]}/y${at % 99}/admin`, { status: 404 }));
    all.note(seen('/api/orders'));
    expect(all.all()).toMatchObject([{ pattern: '/api/orders', requests: 1 }]);
    expect(all.dropped()).toBe(5000);
  });

  it('merge the counts of paths that are folded later, and keep their subpaths', () => {
    const all = createObservations();
    const names = Array.from(
      { length: 60 },
      (_, at) => `${String.fromCharCode(97 + (at % 26))}${'z'.repeat(at % 7)}${'y'.repeat(Math.floor(at / 7))}`,
    );
    const unique = [...new Set(names)];
    expect(unique.length).toBeGreaterThan(48);
    for (const name of unique) {
      all.note(seen(`/api/topics/${name}`));
      all.note(seen(`/api/topics/${name}/posts`, { signedIn: false, status: 403 }));
    }
    expect(
      all.all().map(({ pattern, requests, signedIn, succeeded }) => ({ pattern, requests, signedIn, succeeded })),
    ).toEqual([
      { pattern: '/api/topics/*', requests: unique.length, signedIn: unique.length, succeeded: unique.length },
      { pattern: '/api/topics/*/posts', requests: unique.length, signedIn: 0, succeeded: 0 },
    ]);
  });

  it('count each fact of a request, for one pattern together', () => {
    const all = createObservations();
    const note = (path: string, more: Partial<Seen>) => all.note(seen(path, { signedIn: false, ...more }));
    note('/api/a/1', { method: 'HEAD', mediaType: 'text/csv', refusal: 'no_token' });
    note('/api/a/2', { status: 399, caller: 'other', mediaType: 'text/csv', signedIn: true });
    note('/api/a/3', { status: 400, caller: 'other', refusal: 'no_token' });
    note('/api/a/4', { status: 404 });
    for (const mediaType of ['a/1', 'a/2', 'a/3', 'a/4', 'text/csv']) note('/api/a/5', { mediaType });
    expect(all.all()).toEqual([
      {
        ...{ method: 'GET', pattern: '/api/a/*', route: undefined, requests: 9, signedIn: 1, succeeded: 7 },
        anonymousSucceeded: 6,
        callers: new Map(Object.entries({ session: 6, other: 1 })),
        statuses: new Map([
          [200, 6],
          [399, 1],
          [400, 1],
          [404, 1],
        ]),
        refusals: new Map(Object.entries({ no_token: 2, no_route: 7 })),
        mediaTypes: new Map(Object.entries({ 'text/csv': 3, 'a/1': 1, 'a/2': 1, 'a/3': 1 })),
      },
    ]);
  });

  it('begin with what the site knows, and not with a path of more than 1024 characters', () => {
    const all = createObservations();
    for (const status of [404, 405, 410, 0]) all.note(seen(`/api/s${status}`, { status }));
    all.note(seen(`/${'a/'.repeat(511)}ab`));
    expect([all.all(), all.dropped()]).toEqual([[], 5]);
    all.note(seen(`/${'a/'.repeat(511)}a`));
    for (const status of [403, 409, 411, 500]) all.note(seen(`/api/s-${status % 10}`, { status }));
    const route = { match: 'GET /gone', upstream: 'u', scopes: [] };
    all.note(seen('/gone', { route, status: 404 }));
    expect([all.all().length, all.dropped()]).toEqual([6, 5]);
    expect(all.all().map(({ pattern }) => pattern.slice(0, 8))).toEqual([
      '/a/a/a/a',
      '/api/s-0',
      '/api/s-1',
      '/api/s-3',
      '/api/s-9',
      '/gone',
    ]);
  });

  it('keep up to 48 names of one place', () => {
    const all = createObservations();
    const note = (at: number) => all.note(seen(`/api/${String.fromCharCode(97 + (at % 26))}${'z'.repeat(at / 26)}/x`));
    for (let at = 0; at < 48; at += 1) note(at);
    expect(all.all()).toHaveLength(48);
    note(48);
    expect(all.all()).toMatchObject([{ pattern: '/api/*/x', requests: 49 }]);
  });

  it('count unknown methods under one name', () => {
    const all = createObservations();
    for (let at = 0; at < 50; at += 1) all.note(seen('/api/x', { method: `M${at}` }));
    expect(all.all()).toMatchObject([{ method: '*', requests: 50 }]);
  });
});

describe('the suggested scope', () => {
  const read = { title: 'x', kind: 'read' } as const;
  const scopes = {
    'courses:read': read,
    'orders:read': read,
    'membership_plans:read': read,
    'account:read': read,
    'account:write': { title: 'x', kind: 'write' } as const,
  };
  it.each([
    ['/api/v1/courses/*', 'read', 'courses:read', true],
    ['/api/courses/*/orders', 'read', 'orders:read', true],
    ['/api/membership-plans', 'read', 'membership_plans:read', true],
    ['/course/view.php', 'read', 'courses:read', true],
    ['/api/me', 'read', 'account:read', true],
    ['/api/courses', 'write', 'account:write', false],
    ['/api/zebras', 'read', 'account:read', false],
  ] as const)('for %s with %s access is %s, with a match: %s', (pattern, access, scope, fits) => {
    expect(suggestScope(pattern, access, scopes)).toEqual({ scope, fits });
  });
});
