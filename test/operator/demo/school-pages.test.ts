import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type School, startSchool } from '../../../src/operator/demo/school.ts';

let school: School;
let now = Date.UTC(2026, 4, 20, 10);

beforeAll(async () => {
  school = await startSchool({
    ports: { school: 0, progress: 0, events: 0 },
    gate: () => undefined,
    clock: () => now,
  });
});
afterAll(() => school.close());

/** A minimal browser: it stores cookies and does not follow redirects. */
class Browser {
  readonly cookies = new Map<string, string>();

  async open(path: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(school.urls.school + path, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  async csrf(path = '/login'): Promise<string> {
    return /name="csrf" value="([^"]+)"/.exec(await (await this.open(path)).text())?.[1] ?? '';
  }

  async post(path: string, fields: Record<string, string>): Promise<Response> {
    return this.open(path, { method: 'POST', body: new URLSearchParams(fields) });
  }

  async signIn(login: string, password: string, more: Record<string, string> = {}): Promise<Response> {
    return this.post('/login', { csrf: await this.csrf(), login, password, ...more });
  }
}

describe('signing in', () => {
  it('starts a new session and redirects to My courses', async () => {
    const browser = new Browser();
    const response = await browser.signIn('student@example.com', 'student');
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/my/courses');
    const cookie = response.headers.getSetCookie().find((line) => line.startsWith('school_session='));
    expect(cookie).toMatch(/^school_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(await (await browser.open('/api/me')).json()).toEqual({
      id: 'm-1001',
      email: 'student@example.com',
      name: 'Sam Student',
      membership: 'active',
      locale: 'en',
      signed_in_at: now / 1000,
    });
  });

  it.each([
    ['student@example.com', 'wrong'],
    ['student@example.com', 'other'],
    ['student@example.com', ''],
    ['nobody@example.com', 'student'],
    ['<script>alert(1)</script>', 'x'],
  ])('refuses %s with password %j, with a message and the form again', async (login, password) => {
    const browser = new Browser();
    const response = await browser.signIn(login, password, { return_to: '/courses?page=2' });
    const page = await response.text();
    expect(response.status).toBe(401);
    expect(page).toContain('<main id="school-login">');
    expect(page).toContain('Wrong email address or password.');
    expect(page).toContain('name="return_to" value="/courses?page=2"');
    expect(page).not.toContain('<script>');
    expect(browser.cookies.has('school_session')).toBe(false);
  });

  it('refuses a form from another site', async () => {
    const browser = new Browser();
    await browser.open('/login');
    const fields = { login: 'student@example.com', password: 'student' };
    expect((await browser.post('/login', fields)).status).toBe(403);
    expect((await browser.post('/login', { ...fields, csrf: 'x' })).status).toBe(403);
    // The form token of one visitor does not match the cookie of another.
    expect((await browser.post('/login', { ...fields, csrf: await new Browser().csrf() })).status).toBe(403);
    const noCookie = new Browser();
    expect((await noCookie.post('/login', { ...fields, csrf: await browser.csrf() })).status).toBe(403);
    expect(browser.cookies.has('school_session')).toBe(false);
  });

  it('never adopts an existing session ID', async () => {
    const browser = new Browser();
    browser.cookies.set('school_session', 'planted');
    await browser.signIn('student@example.com', 'student');
    expect(browser.cookies.get('school_session')).not.toBe('planted');
    const first = browser.cookies.get('school_session') ?? '';
    await browser.signIn('other@example.com', 'other');
    expect(await (await browser.open('/api/me')).json()).toMatchObject({ id: 'm-1002' });
    const old = new Browser();
    old.cookies.set('school_session', first);
    expect((await old.open('/api/me')).status).toBe(401);
  });

  it.each([
    ['/oauth/interaction/abc?x=y', '/oauth/interaction/abc?x=y'],
    ['/oauth/interaction/abc?x=%2Fy&z=a+b', '/oauth/interaction/abc?x=%2Fy&z=a+b'],
    ['/', '/'],
    ['//evil.example', '/my/courses'],
    ['/\\evil.example', '/my/courses'],
    ['/\t/evil.example', '/my/courses'],
    ['/a\r\nset-cookie: x=y', '/my/courses'],
    ['https://evil.example/', '/my/courses'],
    ['javascript:alert(1)', '/my/courses'],
    ['courses', '/my/courses'],
    ['', '/my/courses'],
  ])('with return_to %j redirects to %s', async (returnTo, location) => {
    const response = await new Browser().signIn('student@example.com', 'student', { return_to: returnTo });
    expect([response.status, response.headers.get('location')]).toEqual([303, location]);
  });

  it('keeps return_to in the form unchanged, and escaped', async () => {
    const page = await (await new Browser().open(`/login?return_to=${encodeURIComponent('/o/i/a?x=y&z="1"')}`)).text();
    expect(page).toContain('name="return_to" value="/o/i/a?x=y&amp;z=&quot;1&quot;"');
    expect(await (await new Browser().open('/login?return_to=//evil.example')).text()).not.toContain('evil');
  });

  it('lets a signed-in member continue or switch accounts', async () => {
    const browser = new Browser();
    await browser.signIn('student@example.com', 'student');
    const page = await (await browser.open('/login?return_to=%2Foauth%2Finteraction%2Fabc')).text();
    expect(page).toContain('You are signed in as Sam Student.');
    expect(page).toContain('<a href="/oauth/interaction/abc">Continue as Sam Student</a>');
    expect(page).toContain('name="password"');
  });

  it('signs out only with a form', async () => {
    const browser = new Browser();
    await browser.signIn('student@example.com', 'student');
    expect((await browser.post('/logout', {})).status).toBe(403);
    expect((await browser.open('/api/me')).status).toBe(200);
    const session = browser.cookies.get('school_session') ?? '';
    const response = await browser.post('/logout', { csrf: await browser.csrf('/') });
    expect([response.status, response.headers.get('location')]).toEqual([303, '/']);
    browser.cookies.set('school_session', session);
    expect((await browser.open('/api/me')).status).toBe(401);
  });

  it('ends a session after eight hours', async () => {
    const browser = new Browser();
    await browser.signIn('student@example.com', 'student');
    const before = now;
    now += 8 * 3_600_000 - 1;
    expect((await browser.open('/api/me')).status).toBe(200);
    now += 1;
    expect((await browser.open('/api/me')).status).toBe(401);
    expect((await browser.signIn('student@example.com', 'student')).status).toBe(303);
    now = before;
  });
});

describe('pages', () => {
  it('answers /api/me only for a session cookie', async () => {
    const response = await new Browser().open('/api/me', { headers: { 'x-member-id': 'm-1001' } });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: { code: 'sign_in_required', message: 'Nobody is signed in.' } });
  });

  it.each([
    ['/', 'school-home', '<h1>Harbour Lane School</h1>'],
    ['/courses', 'school-courses', '60 courses'],
    ['/courses/harbour-navigation', 'school-course', 'Welcome aboard'],
    ['/login', 'school-login', '<label for="password">'],
  ])('shows %s without a sign-in', async (path, id, words) => {
    const response = await new Browser().open(path);
    const page = await response.text();
    expect(response.status).toBe(200);
    expect(page).toContain(`<main id="${id}">`);
    expect(page).toContain(words);
    expect(page.match(/<h1>/g)).toHaveLength(1);
    expect(page).not.toMatch(/(?:href|action)="(?!\/|#)/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(response.headers.get('x-powered-by')).toBeNull();
  });

  it('redirects from My courses to the sign-in page and back', async () => {
    const response = await new Browser().open('/my/courses?page=2');
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/login?return_to=%2Fmy%2Fcourses%3Fpage%3D2');
  });

  it('lists each of the member’s courses once', async () => {
    const browser = new Browser();
    await browser.signIn('student@example.com', 'student');
    const text = await (await browser.open('/my/courses')).text();
    const slugs = [...text.matchAll(/<h2><a href="\/courses\/([^"]+)"/g)].map((match) => match[1]);
    expect(slugs).toHaveLength(37);
    expect(new Set(slugs).size).toBe(37);
    expect(slugs[0]).toBe('harbour-navigation');
    const course = await (await browser.open('/courses/harbour-navigation')).text();
    expect(course).toContain('You are enrolled.');
  });

  it('returns 404 and 400 as a page or as JSON, like the path', async () => {
    const page = await new Browser().open('/nowhere');
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    const json = await new Browser().open('/api/nowhere');
    expect([json.status, json.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
    expect((await new Browser().open('/courses/%ZZ')).status).toBe(400);
    expect((await new Browser().open('/API/me')).headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await (await new Browser().open('/courses/%ZZ')).text()).not.toContain('node_modules');
  });

  it('serves its stylesheet', async () => {
    const response = await new Browser().open('/style.css');
    expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8');
  });
});

describe('starting', () => {
  it('fails with Node’s error when a port is in use, and leaves no listener open', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const free = Number(new URL(school.urls.events).port) + 1000;
    const starting = startSchool({ ports: { school: free, progress: port, events: 0 }, gate: () => undefined });
    await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE', port });
    await expect(fetch(`http://127.0.0.1:${free}/`)).rejects.toThrow();
    await new Promise((resolve) => taken.close(resolve));
  });
});
