import { describe, expect, it } from 'vitest';
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
  ])('of %s is %s', (path, template) => {
    expect(pathTemplate(path)).toBe(template);
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
