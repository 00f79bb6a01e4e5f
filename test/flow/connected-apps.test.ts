import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import {
  answerJson,
  plainDocument,
  startDocumentHost,
} from '../authorization-server/client-documents/support/document-host.ts';
import { type App, authorizationRequest, bearer, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { approved, connect, refreshForm, statusOf, token } from '../support/connection.ts';
import { OLU, reachConsent, SAM, signIn } from '../support/member.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

const named = (origin: string, client_name: string) => registerApp(origin, { metadata: { client_name } });

const signedIn = async (origin: string, member: { login: string; password: string } = SAM): Promise<Browser> => {
  const browser = createBrowser();
  await signIn(browser, origin, member);
  return browser;
};

/** What the scope courses:read is called. */
const COURSES = 'Browse the course catalogue';

/** The rows of the connected apps page: the text of each, by app name. */
const rowsOf = (page: Page): ReadonlyMap<string, string> =>
  new Map(
    page.text
      .split('<li class="app">')
      .slice(1)
      .map((row) => [textOf(/<h2>(.*?)<\/h2>/s.exec(row)?.[1] ?? ''), textOf(row.split('</li>', 1)[0] ?? '')]),
  );
const textOf = (markup: string): string =>
  markup
    .replace(/<\/?(time|bdi|strong|code|a)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
/** The target of the link or button with this text or label. */
const linkOf = (page: Page, text: string): string => {
  const found = [...page.text.matchAll(/<a [^>]*href="([^"]*)"([^>]*)>(.*?)<\/a>/gs)].find(
    ([, , rest = '', inner = '']) => text === (/aria-label="([^"]*)"/.exec(rest)?.[1] ?? textOf(inner)),
  );
  if (found === undefined) throw new Error(`no link ${text} in ${textOf(page.text)}`);
  return new URL((found[1] ?? '').replaceAll('&amp;', '&'), page.url).href;
};
const notice = (page: Page): string => textOf(/<p[^>]*role="status">(.*?)<\/p>/s.exec(page.text)?.[1] ?? '');

/** The page about an app, from the list. */
const openApp = (browser: Browser, list: Page, name: string) => browser.open(linkOf(list, name));

/** Follows Disconnect and confirms. */
const disconnect = async (browser: Browser, page: Page, text: string): Promise<Page> =>
  browser.submit(await browser.open(linkOf(page, text)), {});

describe('the page of connected apps', () => {
  let folder: string;
  let world: World;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-apps-'));
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now(),
      log: createLog('info', openSync(join(folder, 'log'), 'w')),
      overrides: { pages: { apps: { back: '/my/courses' } } },
    });
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const open = (browser: Browser, query = '') => browser.open(`${world.origin}/oauth/apps${query}`);
  const get = async (path: string, accessToken: string): Promise<number> => {
    const response = await fetch(world.origin + path, { headers: bearer(accessToken) });
    await response.arrayBuffer();
    return response.status;
  };
  const account = (accessToken: string, query: string) =>
    fetch(`${world.origin}/account/graphql`, {
      method: 'POST',
      headers: { ...bearer(accessToken), 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    }).then((response) => response.json());
  const events = (action = 'app_disconnected') =>
    readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes(action))
      .map((line) => JSON.parse(line) as Record<string, string>);
  const detailsOf = async (browser: Browser, name: string) =>
    textOf((await openApp(browser, await open(browser), name)).text);

  describe('signing in', () => {
    it('happens on the school’s own page, which leads back to the list', async () => {
      const browser = createBrowser();
      const login = await open(browser);
      expect(new URL(login.url).pathname).toBe('/login');
      const page = await browser.submit(login, OLU);
      expect(page.url).toBe(`${world.origin}/oauth/apps`);
      expect(page.text).toContain('<main id="apps">');
      expect(page.text).toContain('other@example.com');
    });

    it('offers a link to sign in, instead of a loop, when it is not completed', async () => {
      const browser = createBrowser();
      const page = await browser.open(`${world.origin}/oauth/apps/return`);
      expect(page.status).toBe(200);
      expect(page.text).toContain('<main id="apps-sign-in">');
      expect(new URL(linkOf(page, 'Sign in')).pathname).toBe('/login');
    });

    it.each(['//evil.example', 'https://evil.example/', '/\\evil.example'])(
      'never returns to another origin, even if %s is requested',
      async (elsewhere) => {
        const browser = createBrowser();
        const query = new URLSearchParams({ return_to: elsewhere, next: elsewhere, page: elsewhere, done: elsewhere });
        const { location } = await browser.open(`${world.origin}/oauth/apps?${query}`, () => false);
        const to = new URL(location ?? '');
        expect(to.origin).toBe(world.origin);
        expect(to.searchParams.get('return_to')).toBe('/oauth/apps/return');
      },
    );
  });

  it('is never cached, framed or readable by other origins', async () => {
    const page = await open(await signedIn(world.origin));
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(page.headers.get('x-frame-options')).toBe('DENY');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
    expect(page.text).not.toMatch(/<script|style=|\son\w+=/);
  });

  it('says when nothing is connected, and links back to the school', async () => {
    const page = await open(await signedIn(world.origin, OLU));
    expect(textOf(page.text)).toContain('No app is connected to your account.');
    expect(new URL(linkOf(page, 'Back to Harbour Lane School')).pathname).toBe('/my/courses');
    expect(page.text).not.toContain('/oauth/apps/disconnect');
  });

  it('is led to from every page, as is the school: in a new tab where an app is waiting for an answer', async () => {
    const browser = await signedIn(world.origin);
    const app = await named(world.origin, 'Waiting');
    const authorize = async (parameters: Record<string, string> = {}) =>
      (await authorizationRequest(app, parameters)).url;
    const pages: readonly (readonly [main: string, url: string, tab: string, by?: Browser])[] = [
      ['apps-sign-in', `${world.origin}/oauth/apps/return`, '', createBrowser()],
      ['app', `${world.origin}/oauth/apps/app?app=unknown`, ''],
      ['error', `${world.origin}/oauth/interaction/long-gone`, ''],
      ['error', await authorize({ client_id: 'unknown' }), ''],
      ['consent', await authorize(), ' target="_blank"'],
    ];
    for (const [main, url, tab, by = browser] of pages) {
      const { text } = await by.open(url);
      expect(text).toContain(`<main id="${main}">`);
      const [, header = '', below = ''] = /<header[^>]*>(.*?)<\/header>(.*)/s.exec(text) ?? [];
      const home = `<a href="/my/courses" rel="noopener"${tab}>`;
      expect(header.startsWith(home)).toBe(true);
      if (main === 'error') {
        // Its next steps: the footer does not repeat them.
        expect(below.match(/href="\/my\/courses"|href="\/oauth\/apps"/g)).toHaveLength(2);
        continue;
      }
      expect(below).toContain(`${home}Back to <bdi>Harbour Lane School</bdi></a>`);
      expect(below).toContain(`<a href="/oauth/apps" rel="noopener"${tab}>Connected apps</a>`);
    }
    // The list does not link to itself, and the language that was asked for is kept.
    const list = await open(browser);
    expect(list.text.slice(list.text.indexOf('<footer'))).not.toContain('/oauth/apps"');
    expect((await browser.open(await authorize({ ui_locales: 'de' }))).text).toContain(
      '<a href="/oauth/apps?ui_locales=de" rel="noopener" target="_blank">Verbundene Apps</a>',
    );
  });

  it('links to the front page of the site unless another page is configured', async () => {
    await world.restart({ pages: { apps: {} } });
    try {
      expect(new URL(linkOf(await open(await signedIn(world.origin)), 'Back to Harbour Lane School')).pathname).toBe(
        '/',
      );
    } finally {
      await world.restart({ pages: { apps: { back: '/my/courses' } } });
    }
  });

  it('lists each app of the member: whether it is verified, when it was used and expires, what it can see and change', async () => {
    vi.setSystemTime(Date.UTC(2027, 2, 4, 9, 5));
    const app = await named(world.origin, 'Listed');
    await connect(app, { ticked: ['courses:read', 'account:read'] });
    await connect(await named(world.origin, 'Writer'), { parameters: { scope: 'openid courses:read courses:write' } });
    await connect(await named(world.origin, 'Harbour Lane School'));
    await connect(await named(world.origin, 'Of somebody else'), { member: OLU });
    const everything = 'openid profile email account:read courses:read students:read orders:read events:read';
    await connect(await named(world.origin, 'Curious'), { parameters: { scope: everything } });
    await connect(await named(world.origin, 'Modest'), { parameters: { scope: 'openid' } });
    const list = await open(await signedIn(world.origin));
    // The sign-in is the school's own session, which the gate cannot end.
    expect(list.text).not.toContain('Sign out');
    const signOut = await fetch(`${world.origin}/oauth/apps/sign-out`, { method: 'POST', redirect: 'manual' });
    expect(signOut.status).toBe(404);
    const rows = rowsOf(list);
    const facts = 'Not verified Never used Expires 3 Mar 2028';
    expect(rows.get('Listed')).toBe(`L Listed Disconnect ${facts} Can see: your account and courses`);
    expect(rows.get('Writer')).toBe(`W Writer Disconnect ${facts} Can see: courses Can change: courses`);
    expect(rows.get('Modest')).toBe(`M Modest Disconnect ${facts} Can see: who you are`);
    // Seven areas: a single one is named rather than counted.
    expect(rows.get('Curious')).toBe(
      `C Curious Disconnect ${facts} Can see: your name, your email address, your account, courses, students, orders and events`,
    );
    // So few apps need no search.
    expect(list.text).not.toContain('<form');
    expect(rows.get('Harbour Lane School')).toContain('Not part of Harbour Lane School');
    expect([...rows.keys()]).not.toContain('Of somebody else');
  });

  it('says that an app is approved but not connected until it has redeemed its code', async () => {
    const app = await named(world.origin, 'Never Redeemed');
    const { form } = await approved(app);
    const browser = await signedIn(world.origin);
    const shown = async () => rowsOf(await open(browser)).get('Never Redeemed');
    expect(await shown()).toContain('Approved, but not connected: the app never fetched its access');
    await token(app, { ...form, code_verifier: 'w'.repeat(43) });
    expect(await shown()).toContain('Approved, but not connected');
    const again = await approved(app);
    expect((await token(app, again.form)).status).toBe(200);
    expect(await shown()).toContain('Never used');
  });

  it('has a page about each app: whether it is verified, where it leads, what it can do and since when', async () => {
    vi.setSystemTime(Date.UTC(2027, 2, 4, 9, 5));
    const app = await named(world.origin, 'Described');
    const scope = 'openid courses:read courses:write account:read account:write';
    await connect(app, { parameters: { scope }, ticked: ['courses:read', 'courses:write', 'account:read'] });
    const browser = await signedIn(world.origin);
    const page = await openApp(browser, await open(browser), 'Described');
    expect(page.text).toContain('<main id="app">');
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.text).not.toMatch(/<script|style=|\son\w+=/);
    const text = textOf(page.text);
    for (const words of [
      'Not verified: Harbour Lane School has not reviewed this app',
      'Sends you to app.example',
      'Connected 4 Mar 2027, 09:05',
      'Last used Never',
      'Expires 3 Mar 2028',
      'It has not read or changed anything.',
      'Times are in Coordinated Universal Time',
    ]) {
      expect(text).toContain(words);
    }
    // What it can change is apart from what it can see.
    const [changes = '', sees = ''] = page.text.split('<h3>It can see</h3>');
    expect(changes).toMatch(
      /class="changes"><h3>It can make changes, without asking you each time<\/h3><ul><li>Create/,
    );
    expect(sees).toContain(COURSES);
    expect(text).not.toContain('Change your account');
    expect(text).not.toContain('your own sign-in');
    expect(linkOf(page, 'All connected apps')).toBe(`${world.origin}/oauth/apps`);
  });

  it('answers 404 for the app of another member, an unknown one, and none', async () => {
    const theirs = await named(world.origin, 'Theirs');
    await connect(theirs, { member: OLU });
    const browser = await signedIn(world.origin);
    const pages = await Promise.all(
      [`?app=${theirs.client.client_id}`, '?app=unknown', '?all', ''].map((query) =>
        browser.open(`${world.origin}/oauth/apps/app${query}`),
      ),
    );
    for (const page of pages) {
      expect([page.status, textOf(page.text)]).toEqual([404, textOf(pages[0]?.text ?? '')]);
      expect(page.text).not.toContain('Theirs');
      expect(page.text).toContain('This app is not connected to your account.');
    }
    const own = await signedIn(world.origin, OLU);
    expect((await own.open(`${world.origin}/oauth/apps/app?app=${theirs.client.client_id}`)).status).toBe(200);
    const stranger = await createBrowser().open(`${world.origin}/oauth/apps/app?app=${theirs.client.client_id}`);
    expect(new URL(stranger.url).pathname).toBe('/login');
  });

  it('shows markup in the name of an app as text, also on the confirmation page', async () => {
    const name = '</h2><script>alert(1)</script><img src=x onerror=alert(1)> & "';
    await connect(await named(world.origin, name));
    const browser = await signedIn(world.origin);
    const page = await open(browser);
    const href = (of: RegExp) => world.origin + (of.exec(page.text)?.[1] ?? '').replaceAll('&amp;', '&');
    const about = await browser.open(href(/<a href="([^"]*)"><bdi>&lt;\/h2&gt;/));
    const asked = await browser.open(href(/href="([^"]*)" aria-label="Disconnect &lt;\/h2&gt;/));
    for (const { text } of [page, about, asked]) {
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt; &amp;');
      expect(text).not.toMatch(/<script|<img src=x/);
    }
  });

  it('lists what an app did in the member’s words, how often and when last', async () => {
    vi.setSystemTime(Date.UTC(2027, 2, 31, 23, 57));
    const app = await named(world.origin, 'Busy');
    const { access_token } = await connect(app, {
      parameters: { scope: 'openid account:read account:write courses:read courses:write orders:read' },
    });
    const browser = await signedIn(world.origin);
    const tool = (name: string, given: object) =>
      fetch(`${world.origin}/mcp`, {
        method: 'POST',
        headers: {
          ...bearer(access_token),
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
      }).then((response) => response.text());
    const position = { courseSlug: 'turning-bowls', lectureId: '4995', positionSeconds: 77 };
    const input = '{ courseSlug: "turning-bowls", lectureId: "4995", positionSeconds: 77 }';
    await account(access_token, `mutation { savePlaybackPosition(input: ${input}) { courseSlug } }`);
    await tool('save_playback_position', position);

    vi.setSystemTime(Date.UTC(2027, 3, 1, 0, 0));
    for (let at = 0; at < 3; at += 1) expect(await get('/api/v1/courses?per_page=1', access_token)).toBe(200);
    await account(
      access_token,
      '{ viewer { id again: id e: email enrolledCourses(first: 1) { totalCount } __typename } }',
    );
    expect(await get('/api/oauth/userinfo', access_token)).toBe(200);
    expect(await get('/api/v1/whoami', access_token)).toBe(200);
    vi.setSystemTime(Date.UTC(2027, 3, 1, 0, 4));
    await tool('get_my_account', {});
    // Refused, not found, or not about the member: none of these count as use.
    expect(await get('/api/v1/students', access_token)).toBe(403);
    expect(await get('/api/v1/courses/no-such-course', access_token)).toBe(404);
    await account(access_token, '{ __schema { queryType { name } } }');

    vi.setSystemTime(Date.UTC(2027, 3, 1, 0, 9));
    expect(rowsOf(await open(browser)).get('Busy')).toContain('Last used 5 minutes ago');
    const text = await detailsOf(browser, 'Busy');
    expect(text).toContain('Last used 5 minutes ago (1 Apr 2027, 00:04)');
    expect(text.slice(text.indexOf('Changes it made'), text.indexOf('Times are in'))).toBe(
      'Changes it made ' +
        'Saved where you stopped in a course · once · 31 Mar ' +
        'Used the tool “Save where I stopped” · once · 31 Mar ' +
        'What it read ' +
        `${COURSES} · 3 times · 1 Apr ` +
        'Used the tool “Get my account” · once · 1 Apr ' +
        'Read your member ID · once · 1 Apr ' +
        'Read your email address · once · 1 Apr ' +
        'Read your courses and your progress · once · 1 Apr ' +
        'Checked who you are · once · 1 Apr ' +
        'Used the address /api/v1/whoami · once · 1 Apr ',
    );
    expect(text).toContain('Use each day from 3 Mar to 1 Apr');
    expect(text).toContain('Day (UTC) Reads Changes 1 Apr 9 0 31 Mar 0 2 ');
    const { text: markup } = await openApp(browser, await open(browser), 'Busy');
    // Nine reads upwards from the line on the last of 30 days, two changes downwards on the day before.
    expect(markup.match(/<rect class="(reads|changes)"[^>]*>/g)).toEqual([
      '<rect class="changes" x="562.5" y="100.2" width="15" height="21.8" rx="2"/>',
      '<rect class="reads" x="582.5" y="0" width="15" height="98.2" rx="2"/>',
    ]);
    expect(markup).toMatch(/<svg [^>]*role="img" aria-labelledby="usage-title usage-text"/);
  });

  it('keeps usage counts over a restart, drops them after 30 days, and always keeps the day of the last use', async () => {
    vi.setSystemTime(Date.UTC(2027, 4, 1, 12, 0));
    const app = await named(world.origin, 'Kept');
    const { access_token } = await connect(app);
    expect(await get('/api/v1/courses?per_page=1', access_token)).toBe(200);
    await world.restart();
    expect(await get('/api/v1/courses?per_page=1', access_token)).toBe(200);
    const browser = await signedIn(world.origin);
    expect(await detailsOf(browser, 'Kept')).toContain(`${COURSES} · 2 times`);
    await world.restart();
    expect(await detailsOf(browser, 'Kept')).toContain(`${COURSES} · 2 times`);

    vi.setSystemTime(Date.UTC(2027, 4, 30, 12, 0));
    const late = await signedIn(world.origin);
    expect(await detailsOf(late, 'Kept')).toContain(`${COURSES} · 2 times`);
    vi.setSystemTime(Date.UTC(2027, 4, 31, 12, 0));
    const later = await signedIn(world.origin);
    expect(await detailsOf(later, 'Kept')).toContain('It has not read or changed anything.');
    expect(await detailsOf(later, 'Kept')).toContain('Last used 1 month ago (1 May 2027, 12:00)');
  });

  describe('Disconnect', () => {
    const cutOff = async (accessToken: string, refresh: string | undefined, app: App) => {
      expect(await statusOf(world.origin, accessToken)).toBe(401);
      expect((await token(app, refreshForm(app, refresh))).body.error).toBe('invalid_grant');
    };

    it('asks for confirmation, then ends the app’s access at once, says so, and logs it', async () => {
      const app = await named(world.origin, 'Cut off');
      const other = await named(world.origin, 'Left alone');
      const tokens = await connect(app);
      const left = await connect(other);
      const browser = await signedIn(world.origin);
      expect(await statusOf(world.origin, tokens.access_token)).toBe(200);

      const asked = await browser.open(linkOf(await open(browser), 'Disconnect Cut off'));
      expect(asked.text).toContain('<main id="disconnect">');
      expect(textOf(asked.text)).toContain('Disconnect Cut off?');
      expect(asked.text).toContain('<title>Disconnect Cut off?');
      // Opening the confirmation page changes nothing.
      expect(await statusOf(world.origin, tokens.access_token)).toBe(200);

      expect(events('consent_given').at(-1)).toMatchObject({
        'oauth.client_id': other.client.client_id,
        'user.id': 'm-1001',
        'oauth.client_host': 'app.example',
      });
      const before = events().length;
      const posted = await browser.submit(asked, {}, () => false);
      expect([posted.status, posted.text]).toEqual([303, '']);
      await cutOff(tokens.access_token, tokens.refresh_token, app);
      const page = await browser.open(posted.location ?? '');
      expect(notice(page)).toBe('Disconnected. It can no longer use your account.');
      expect([...rowsOf(page).keys()]).not.toContain('Cut off');
      expect(await statusOf(world.origin, left.access_token)).toBe(200);
      expect(events().slice(before)).toMatchObject([
        {
          level: 30,
          'event.kind': 'event',
          'event.outcome': 'success',
          'oauth.client_id': app.client.client_id,
          'user.id': 'm-1001',
          'source.address': expect.stringMatching(/127\.0\.0\.1$|^::1$/),
          'http.request.id': posted.headers.get('x-request-id'),
        },
      ]);

      // Submitted twice, as by a double click: the result is the same, and nothing else is disconnected.
      const again = await browser.submit(asked, {});
      expect(notice(again)).toBe('Disconnected. It can no longer use your account.');
      expect(events()).toHaveLength(before + 1);
      expect(await statusOf(world.origin, left.access_token)).toBe(200);
    });

    it('ends all connections of the app, or one of them', async () => {
      const app = await named(world.origin, 'Many');
      const first = await connect(app);
      vi.setSystemTime(Date.now() + 60_000);
      const second = await connect(app);
      vi.setSystemTime(Date.now() + 60_000);
      const third = await connect(app);
      const browser = await signedIn(world.origin);
      const page = await open(browser);
      const about = await openApp(browser, page, 'Many');
      expect(textOf(about.text)).toContain('Connected 3 times');
      const [newest = ''] = [...about.text.matchAll(/href="([^"]*\?connection=[^"]*)"/g)].map(([, href = '']) => href);
      const without = await browser.submit(await browser.open(world.origin + newest), {});
      expect(notice(without)).toBe('Connection ended. It can no longer be used.');
      await cutOff(third.access_token, third.refresh_token, app);
      expect(await statusOf(world.origin, first.access_token)).toBe(200);
      await disconnect(browser, await open(browser), 'Disconnect Many');
      await cutOff(first.access_token, first.refresh_token, app);
      await cutOff(second.access_token, second.refresh_token, app);
    });

    it('ends every app of the member, and none of another, with "Disconnect all apps"', async () => {
      const apps = await Promise.all(['One', 'Two'].map((name) => named(world.origin, name)));
      const tokens = await Promise.all(apps.map((app) => connect(app)));
      const others = await connect(apps[0] as App, { member: OLU });
      const browser = await signedIn(world.origin);
      const page = await disconnect(browser, await open(browser), 'Disconnect all apps');
      expect(notice(page)).toBe('All apps are disconnected. None of them can use your account any longer.');
      expect(rowsOf(page).size).toBe(0);
      for (const { access_token } of tokens) expect(await statusOf(world.origin, access_token)).toBe(401);
      expect(await statusOf(world.origin, others.access_token)).toBe(200);
    });

    it('refuses a form from another site, for another member or app, or without a CSRF token', async () => {
      const app = await named(world.origin, 'Guarded');
      const decoy = await named(world.origin, 'Decoy');
      const tokens = await connect(app);
      await connect(decoy);
      const browser = await signedIn(world.origin);
      const page = await open(browser);
      const csrfOf = ({ text }: Page) => /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
      const own = csrfOf(await browser.open(linkOf(page, 'Disconnect Guarded')));
      const ofDecoy = csrfOf(await browser.open(linkOf(page, 'Disconnect Decoy')));
      const olu = await signedIn(world.origin, OLU);
      const grantsPage = await olu.open(
        `${world.origin}/oauth/apps/disconnect?${new URLSearchParams({ app: app.client.client_id })}`,
      );
      // The app is not theirs, so they learn nothing about it.
      expect(grantsPage.url).toBe(`${world.origin}/oauth/apps`);

      const post = async (by: Browser, fields: Record<string, string>, headers: Record<string, string> = {}) => {
        const response = await fetch(`${world.origin}/oauth/apps/disconnect`, {
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams(fields),
          headers: {
            accept: 'text/html',
            cookie: [...by.cookies].map(([name, { value }]) => `${name}=${value}`).join('; '),
            ...headers,
          },
        });
        await response.arrayBuffer();
        return [response.status, response.headers.get('location')];
      };
      const fields = { app: app.client.client_id, csrf: own };
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
        { origin: 'https://evil.example' },
        { origin: 'null' },
      ]) {
        expect(await post(browser, fields, headers as Record<string, string>)).toEqual([403, null]);
      }
      const list = [303, '/oauth/apps'];
      expect(await post(browser, { app: app.client.client_id })).toEqual(list);
      expect(await post(browser, { ...fields, csrf: ofDecoy })).toEqual(list);
      expect(await post(browser, { ...fields, csrf: 'é'.repeat(43) })).toEqual(list);
      expect(await post(browser, { csrf: own })).toEqual(list);
      expect(await post(browser, { all: '', csrf: own })).toEqual(list);
      expect(await post(olu, fields)).toEqual(list);
      const [status, location] = await post(createBrowser(), fields);
      expect([status, new URL(String(location), world.origin).pathname]).toEqual([303, '/login']);
      expect(await statusOf(world.origin, tokens.access_token)).toBe(200);
      // The earlier posts were refused because of the CSRF token, not because of the rest of the form.
      expect((await post(browser, fields, { 'sec-fetch-site': 'same-origin' }))[0]).toBe(303);
      expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
    });

    it('cannot be made to look done by a forged link', async () => {
      const browser = await signedIn(world.origin);
      for (const done of ['app', 'all', '1', 'x'.repeat(43)])
        expect(notice(await open(browser, `?done=${done}`))).toBe('');
    });
  });

  describe('with many apps', () => {
    const MANY = 27;
    let browser: Browser;
    beforeAll(async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const name = (at: number) => ['Café Notes', '</h2>&"', 'Zotero'][at] ?? `Page ${at}`;
      for (let at = 0; at < MANY; at += 1) {
        vi.setSystemTime(Date.UTC(2027, at < 3 ? 5 : 7, 1, 12, at));
        const app = await named(world.origin, name(at));
        const scope = at === 2 ? 'openid courses:read courses:write' : 'openid courses:read';
        await connect(app, { member: OLU, parameters: { scope } });
      }
      browser = await signedIn(world.origin, OLU);
    });
    beforeEach(() => {
      vi.setSystemTime(Date.UTC(2027, 7, 1, 13));
    });
    const rangeOf = (page: Page) => /(\d+) to (\d+) of (\d+)/.exec(textOf(page.text))?.slice(1).map(Number) ?? [];
    const namesOn = (page: Page) => [...rowsOf(page).keys()];

    it('shows 25 at a time, and a valid page for any page number', async () => {
      const first = await open(browser);
      const [, , total = 0] = rangeOf(first);
      expect(total).toBeGreaterThanOrEqual(MANY);
      expect(rangeOf(first)).toEqual([1, 25, total]);
      expect(rowsOf(first).size).toBe(25);
      expect(first.text).not.toContain('rel="prev"');
      const second = await browser.open(linkOf(first, 'More apps'));
      expect(second.text).not.toContain('rel="next"');
      expect(rangeOf(second)).toEqual([26, total, total]);
      expect(rowsOf(second).size).toBe(total - 25);
      expect(namesOn(second).some((name) => rowsOf(first).has(name))).toBe(false);
      expect(namesOn(await browser.open(linkOf(second, 'Previous apps')))).toEqual(namesOn(first));
      for (const page of ['0', '-1', '999', '1e3', 'x', '']) {
        expect(rowsOf(await open(browser, `?page=${page}`)).size).toBeGreaterThan(0);
      }
    });

    it('finds apps by a part of their name or host, regardless of case and accents', async () => {
      expect(namesOn(await open(browser, '?q=CAFE+N'))).toEqual(['Café Notes']);
      expect(namesOn(await open(browser, `?${new URLSearchParams({ q: ' </h2>&" ' })}`))).toEqual([
        '&lt;/h2&gt;&amp;&quot;',
      ]);
      expect(rowsOf(await open(browser, '?q=app.example')).size).toBe(25);
      const none = await open(browser, '?q=nothing-of-this-name');
      expect(textOf(none.text)).toContain('No app matches.');
      expect(none.text).toContain('value="nothing-of-this-name"');
      expect(rowsOf(await browser.open(linkOf(none, 'All connected apps'))).size).toBe(25);
      // Disconnecting all would disconnect more than is shown.
      expect(none.text).not.toContain('?all=');
      // Too long to be a name: as without a search.
      expect(rowsOf(await open(browser, `?q=${'x'.repeat(101)}`)).size).toBe(25);
      // What was chosen before is kept, except the page.
      const form = /<form method="get".*?<\/form>/s.exec(
        (await open(browser, '?sort=name&show=change&page=2')).text,
      )?.[0];
      expect(form?.match(/name="[^"]*"/g)).toEqual(['name="sort"', 'name="show"', 'name="q"']);
    });

    it('sorts them by name, last use and connection', async () => {
      const first = await open(browser);
      const byName = await browser.open(linkOf(first, 'Name'));
      const names = namesOn(byName).filter((name) => name.startsWith('Page '));
      expect(names.slice(0, 3)).toEqual(['Page 3', 'Page 4', 'Page 5']);
      expect(linkOf(byName, 'More apps')).toContain('?sort=name&page=2');
      const connected = await browser.open(linkOf(first, 'Connected'));
      expect(namesOn(connected).slice(0, 3)).toEqual(['Page 26', 'Page 25', 'Page 24']);
      expect(namesOn(await open(browser, '?sort=<script>'))).toEqual(namesOn(first));
    });

    it('groups those that can make changes, and those not used for 30 days', async () => {
      const first = await open(browser);
      const nav = /<nav class="choices" .*?<\/nav>/s.exec(first.text)?.[0] ?? '';
      const groups = [...nav.matchAll(/<a [^>]*>(.*?)<\/a>/g)].map(([, label = '']) => textOf(label));
      expect(groups).toEqual([
        expect.stringMatching(/^All \(\d+\)$/),
        expect.stringMatching(/^Can make changes \(\d+\)$/),
        expect.stringMatching(/^Not used for 30 days \(\d+\)$/),
      ]);
      const changing = await browser.open(linkOf(first, groups[1] ?? ''));
      expect(namesOn(changing)).toContain('Zotero');
      for (const row of rowsOf(changing).values()) expect(row).toContain('Can change: ');
      const unused = namesOn(await browser.open(linkOf(first, groups[2] ?? '')));
      expect(unused).toEqual(expect.arrayContaining(['Café Notes', 'Zotero']));
      expect(unused.filter((name) => name.startsWith('Page '))).toEqual([]);
    });

    it('returns to the same part of the list after disconnecting', async () => {
      const part = await open(browser, '?ui_locales=en&q=page&sort=name');
      const [gone = ''] = namesOn(part);
      const after = await disconnect(browser, part, `Disconnect ${gone}`);
      const { done, ...parameters } = Object.fromEntries(new URL(after.url).searchParams);
      expect(parameters).toEqual({ ui_locales: 'en', q: 'page', sort: 'name' });
      expect(done).toMatch(/.{43}/);
      expect(namesOn(after)).toEqual(namesOn(part).slice(1));
      expect(notice(after)).toBe('Disconnected. It can no longer use your account.');
    });

    it('says how many and which before it disconnects all', async () => {
      const [, , total = 0] = rangeOf(await open(browser));
      const { text } = await browser.open(`${world.origin}/oauth/apps/disconnect?all=`);
      const [shown = '', folded = ''] = text.split('<details>');
      const namesIn = (part: string) => [...part.matchAll(/<li>(.*?)<\/li>/g)].map(([, name]) => textOf(name ?? ''));
      expect(textOf(shown)).toContain(`Disconnect all apps? ${total} apps will be disconnected: Page 26 app.example `);
      expect(namesIn(shown)).toHaveLength(6);
      expect(textOf(folded)).toMatch(new RegExp(`^${total - 6} more `));
      expect(namesIn(folded)).toHaveLength(total - 6);
      expect(namesIn(folded)).toContain('Café Notes app.example');
    });
  });

  it('uses the member’s language and date format', async () => {
    vi.setSystemTime(Date.UTC(2027, 10, 3, 8, 0));
    const app = await named(world.origin, 'Hablada');
    const { access_token } = await connect(app);
    await get('/api/v1/courses?per_page=1', access_token);
    const browser = await signedIn(world.origin);
    const cookie = [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ');
    const answer = await fetch(`${world.origin}/oauth/apps`, { headers: { cookie, 'accept-language': 'es-MX' } });
    const text = textOf(await answer.text());
    expect(answer.headers.get('content-language')).toBe('es');
    expect(text).toContain('Aplicaciones conectadas a tu cuenta en Harbour Lane School');
    expect(text).toContain('Zona horaria: tiempo universal coordinado');
    const path = `/oauth/apps/app?app=${app.client.client_id}`;
    const about = await fetch(world.origin + path, { headers: { cookie, 'accept-language': 'es-MX' } });
    expect(textOf(await about.text())).toContain('Consultar el catálogo de cursos · una vez · 3 nov');
  });

  it('uses the language that its link requests, on every page it leads to', async () => {
    const app = await named(world.origin, 'Pedida');
    await connect(app);
    const browser = await signedIn(world.origin);
    const list = await open(browser, '?ui_locales=es-MX');
    expect(list.text).toContain('<html lang="es"');
    const about = await openApp(browser, list, 'Pedida');
    expect(about.text).toContain('<html lang="es"');
    expect(about.text).not.toContain('propia sesión');
    expect((await browser.open(linkOf(about, 'Todas las aplicaciones conectadas'))).text).toContain('<html lang="es"');
    const asked = await browser.open(linkOf(list, 'Desconectar Pedida'));
    expect(asked.text).toContain('<html lang="es"');
    const done = await browser.submit(asked, {});
    expect(done.text).toContain('<html lang="es"');
    expect(notice(done)).toMatch(/^Desconectada/);
    for (const wish of ['', 'xx', '%22%3E%3Cscript%3E', 'e'.repeat(5000)])
      expect((await open(browser, `?ui_locales=${wish}`)).text).toContain('<html lang="en"');
    expect((await createBrowser().open(`${world.origin}/oauth/apps/return?ui_locales=es`)).text).toContain(
      '<html lang="es"',
    );
  });

  describe('the consent page', () => {
    it('says that an app is connected for the first time, until it is approved, and again after it is disconnected', async () => {
      const app = await named(world.origin, 'Newcomer');
      const says = async () => {
        const { page } = await reachConsent((await authorizationRequest(app)).url);
        expect(linkOf(page, 'Connected apps')).toBe(`${world.origin}/oauth/apps`);
        return textOf(page.text).includes('First time connecting this app.');
      };
      expect(await says()).toBe(true);
      await connect(app, { member: OLU });
      expect(await says()).toBe(true);
      // Its code was never redeemed.
      await approved(app);
      expect(await says()).toBe(true);
      await connect(app);
      expect(await says()).toBe(false);
      const browser = await signedIn(world.origin);
      await disconnect(browser, await open(browser), 'Disconnect Newcomer');
      expect(await says()).toBe(true);
    });
  });

  it('can still disconnect an app that is gone or cannot be looked up', async () => {
    const app = await named(world.origin, 'Deleted');
    const tokens = await connect(app);
    const browser = await signedIn(world.origin);
    // The redirect rules have changed: the app's redirect URI is no longer allowed.
    await world.restart({ clients: { redirects: { deny: ['app.example'] } }, pages: { apps: { back: '/' } } });
    try {
      const page = await open(browser);
      expect(textOf(page.text)).toContain('An app that is no longer registered');
      const all = await disconnect(browser, page, 'Disconnect all apps');
      expect(rowsOf(all).size).toBe(0);
    } finally {
      await world.restart({ pages: { apps: { back: '/my/courses' } } });
    }
    expect(await statusOf(world.origin, tokens.access_token)).toBe(401);
  });
});

it('an app whose client document is unreachable is listed by its domain, unverified, and can be disconnected', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const host = await startDocumentHost();
  const world = await startWorld({ profile: 'A', clock: () => Date.now(), documentNetwork: host.network });
  try {
    const url = 'https://claude.ai/oauth/client.json';
    const redirectUri = 'https://claude.ai/callback';
    host.serve(url, answerJson(plainDocument(url, { client_name: 'Claude', redirect_uris: [redirectUri] })));
    const app = { ...(await registerApp(world.origin)), client: { client_id: url }, redirectUri };
    await connect(app);
    const proved = await (await signedIn(world.origin)).open(`${world.origin}/oauth/apps`);
    expect(rowsOf(proved).get('Claude')).toContain('Verified: claude.ai');

    // The document is stored for thirty days and was not requested since; its URL now fails.
    host.serve(url, (_request, response) => void response.writeHead(404).end());
    vi.setSystemTime(Date.now() + 40 * 86_400_000);
    await world.restart();
    const browser = await signedIn(world.origin);
    const page = await browser.open(`${world.origin}/oauth/apps`);
    expect(page.status).toBe(200);
    expect(rowsOf(page).get('claude.ai')).toContain('Not verified');
    expect(rowsOf(await disconnect(browser, page, 'Disconnect claude.ai')).size).toBe(0);
  } finally {
    vi.useRealTimers();
    await world.close();
    await host.close();
  }
});

describe.skipIf(!redisPresent())('connected apps of two gates on one Redis', () => {
  let redis: RedisServer;
  let world: World;
  let replica: World;
  beforeAll(async () => {
    redis = await startRedis({ appendOnly: true });
    const shared = { profile: 'A', environment: { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) } };
    const overrides = { store: { kind: 'redis', url: { env: 'REDIS_URL' } }, secret: { env: 'COURSEGATE_SECRET' } };
    world = await startWorld({ ...shared, overrides });
    const upstreams = Object.fromEntries(Object.entries(world.school.urls).map(([name, url]) => [name, { url }]));
    replica = await startWorld({ ...shared, overrides: { ...overrides, origin: world.origin, upstreams } });
  });
  afterAll(async () => {
    await replica.close();
    await world.close();
    await redis.close();
  });

  it('are disconnected on both at once, and the counts of both add up', async () => {
    const app = await named(world.origin, 'Shared');
    const { access_token } = await connect(app);
    const read = async (origin: string) => {
      const response = await fetch(`${origin}/api/v1/courses?per_page=1`, { headers: bearer(access_token) });
      await response.arrayBuffer();
      return response.status;
    };
    for (const origin of [world.origin, replica.origin, replica.origin]) expect(await read(origin)).toBe(200);
    // A gate writes its usage counts when it stops.
    await replica.restart();
    const browser = await signedIn(world.origin);
    const page = await browser.open(`${world.origin}/oauth/apps`);
    expect(textOf((await openApp(browser, page, 'Shared')).text)).toContain(`${COURSES} · 3 times`);

    expect(await read(replica.origin)).toBe(200);
    await disconnect(browser, page, 'Disconnect Shared');
    expect(await read(world.origin)).toBe(401);
    await expect.poll(() => read(replica.origin), { interval: 20, timeout: 4000 }).toBe(401);
  });

  it('are unavailable, rather than shown as deleted, while the record of an app cannot be read', async () => {
    await connect(await named(world.origin, 'Misplaced'));
    const browser = await signedIn(world.origin);
    const client = new Redis({ path: redis.socket });
    const open = () => browser.open(`${world.origin}/oauth/apps`);
    for (const key of await client.keys('*:entry:Client:*')) {
      await client.rename(key, `${key}-away`);
      await client.set(key, 'not a hash');
    }
    expect((await open()).status).toBe(503);
    for (const key of await client.keys('*:entry:Client:*-away')) await client.rename(key, key.slice(0, -5));
    client.disconnect();
    expect([...rowsOf(await open()).keys()]).toContain('Misplaced');
  });
});
