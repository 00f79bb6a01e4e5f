import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_SECRET } from '../support/commands.ts';
import { type CommandedGate, startCommandedGate } from './contract/commanded-gate.ts';
import { FORGERIES } from './contract/forgeries.ts';
import { OTHER_REQUESTS, requestClaims, spellingsOf } from './contract/one-request.ts';
import { bridgeQuery, bridgeSignature, type SigningGate, startKeys } from './contract/signing-gate.ts';
import { ADMIN, OLU, SAM, startWordpress, type WordpressSite, wordpressPresent } from './wordpress-site.ts';

const MEMBER_KEY = 'm'.repeat(32);

/** Code that the school's theme might add: the source of courses, a ban, and a plugin that runs too early. */
const OF_THE_SCHOOL = `<?php
add_filter('coursegate_courses', function ($courses, $member) {
    foreach (get_user_meta($member->ID, 'course') as $title) $courses[] = ['id' => md5($title), 'title' => $title];
    return $courses;
}, 10, 2);
add_filter('coursegate_member', function ($member, $user) {
    return get_user_meta($user->ID, 'banned', true) ? null : $member;
}, 10, 2);
add_filter('coursegate_course_roles', function ($roles, $member) {
    return $member->ID === 4 ? $roles + [7 => ['student'], 8 => [3 => 'instructor', 5 => 'student']] : $roles;
}, 10, 2);
add_action('init', function () { header('X-At-Init: ' . get_current_user_id()); });
`;

/** Turns settings on for single requests. */
const SETTING_BY_HEADER = `<?php
if (isset($_SERVER['HTTP_X_TEST_BOUND_ONLY'])) define('COURSEGATE_BOUND_ONLY', '1');
if (isset($_SERVER['HTTP_X_TEST_PAGES'])) define('COURSEGATE_PAGES_ORIGIN', 'https://login.gate.example');
`;

describe.skipIf(!wordpressPresent())('the WordPress drop-in', () => {
  let gate: SigningGate;
  let commanded: CommandedGate;
  let site: WordpressSite;
  beforeAll(async () => {
    gate = await startKeys(SAM.id);
    commanded = await startCommandedGate();
    site = await startWordpress({
      settings: {
        COURSEGATE_ORIGIN: gate.origin,
        COURSEGATE_UPSTREAM: gate.upstream,
        COURSEGATE_SECRET: gate.secret,
        COURSEGATE_JWKS_URL: gate.jwksUrl,
        COURSEGATE_KEY: MEMBER_KEY,
        COURSEGATE_ADMIN: `${commanded.admin}/`,
        COURSEGATE_ADMIN_SECRET: COMMAND_SECRET,
      },
      // The first is loaded before the drop-in.
      plugins: { 'a-setting.php': SETTING_BY_HEADER, 'school.php': OF_THE_SCHOOL },
    });
  });
  afterAll(async () => {
    const complaints = site?.complaints();
    await site?.close();
    await gate?.close();
    await commanded?.close();
    expect(complaints).toEqual([]);
  });

  const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(site.url + path, { redirect: 'manual', ...init, headers });
  const asserted = (token: string = gate.assertion()) => ({ 'x-coursegate-assertion': token });
  const json = async (answer: Response) => ({ status: answer.status, body: JSON.parse(await answer.text()) });
  const ME = '/wp-json/coursegate/v1/me';

  /** Signs in at wp-login.php. Returns the Cookie value that a browser then sends. */
  const signIn = async ({ login, password }: { login: string; password: string }): Promise<string> => {
    const answer = await fetch(`${site.url}/wp-login.php`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
      body: new URLSearchParams({ log: login, pwd: password, testcookie: '1' }),
    });
    expect(answer.status).toBe(302);
    return answer.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ');
  };
  const whoami = async (cookie: string) => json(await get('/?coursegate=whoami', { cookie }));

  /** Simulates the end of the time in which the keys are not fetched again. */
  const askAgain = () => site.run(`delete_transient('coursegate_keys_pause');`);

  describe('the member check', () => {
    const ask = (id: string, key: Record<string, string> = { 'coursegate-key': MEMBER_KEY }) =>
      get(`/?coursegate=member&id=${id}`, key);

    it('answers callers with the key, with the same version as whoami', async () => {
      const answer = await ask(SAM.id);
      expect(answer.headers.get('cache-control')).toBe('no-store, private');
      const { body } = await whoami(await signIn(SAM));
      expect(await json(answer)).toEqual({ status: 200, body: { active: true, version: body.version } });
    });

    it('answers with the roles at the site and in courses when it is asked for them', async () => {
      const roles = async (id: string) => (await json(await ask(`${id}&roles`))).body;
      expect(await roles(SAM.id)).toEqual({
        active: true,
        version: expect.any(String),
        roles: ['author'],
        courses: { '7': ['student'], '8': ['instructor', 'student'] },
      });
      expect(await roles(ADMIN.id)).toMatchObject({ roles: ['administrator'], courses: {} });
      const { courses } = JSON.parse(await (await ask(`${ADMIN.id}&roles`)).text()) as { courses: object };
      expect(Array.isArray(courses)).toBe(false);
      expect(await roles('99')).toEqual({ active: false });
      expect((await ask(`${SAM.id}&roles`, {})).status).toBe(401);
    });

    it.each(['3', '99', '0', '04', '4x', 'sam', '', '4&id[]=4'])('reports %j as inactive', async (id) => {
      expect(await json(await ask(id))).toEqual({ status: 200, body: { active: false } });
    });

    it('returns 401 without the key, and never reports a member as gone', async () => {
      for (const key of [{}, { 'coursegate-key': '' }, { 'coursegate-key': `${MEMBER_KEY}m` }]) {
        for (const id of [SAM.id, '99']) expect((await ask(id, key)).status).toBe(401);
      }
    });
  });

  it.each([
    ['a new password', `wp_update_user(['ID' => ID, 'user_pass' => 'another-one']);`, 'password changed'],
    ['a password reset', `reset_password(get_userdata(ID), 'another-one');`, 'password reset'],
    ['another role', `(new WP_User(ID))->set_role('subscriber');`, 'role changed'],
    ['an additional role', `(new WP_User(ID))->add_role('editor');`, 'role changed'],
    [
      '“Log out everywhere”',
      `$all = WP_Session_Tokens::get_instance(ID); $all->create(time() + 3600); $all->destroy_all();`,
      'logged out everywhere',
    ],
    ['a plugin’s coursegate_end action', `do_action('coursegate_end', ID, 'refund');`, 'refund'],
    ['the deletion of the account', `require_once ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user(ID);`, 'left'],
    [
      'a new name and email address',
      `wp_update_user(['ID' => ID, 'display_name' => 'Zoe', 'user_email' => 'z@example.com']);`,
      null,
    ],
  ])('ends a member’s connections at the gate after %s, or leaves them', async (_title, php, reason) => {
    const created = `echo wp_insert_user(['user_login' => 'zoe', 'user_pass' => 'zoe-and-the-zoo', 'role' => 'author']);`;
    const before = commanded.ended().length;
    const id = await site.run(created);
    try {
      await site.run(php.replaceAll('ID)', `${id})`).replaceAll('ID,', `${id},`).replaceAll('=> ID', `=> ${id}`));
      expect(commanded.ended().slice(before)).toEqual(reason === null ? [] : [{ id, reason, by: 'backend' }]);
      expect(commanded.refused()).toBe(0);
    } finally {
      await site.run(`require_once ABSPATH . 'wp-admin/includes/user.php'; wp_delete_user(${id});`);
    }
  });

  it('changes a password even if the gate cannot be notified, and logs it', async () => {
    const version = async () =>
      (await json(await get(`/?coursegate=member&id=${OLU.id}`, { 'coursegate-key': MEMBER_KEY }))).body.version;
    const before = await version();
    commanded.wire('refuse');
    await site.run(`wp_update_user(['ID' => ${OLU.id}, 'user_pass' => '${OLU.password}']); echo 'done';`);
    commanded.wire('well');
    expect(await version()).not.toBe(before);
    expect(site.log()).toContain(`coursegate: could not revoke the connections of member ${OLU.id} (password changed)`);
  });

  it.each([
    ['a plugin sends profile_update without the member as they were', `do_action('profile_update', ${OLU.id});`, ''],
    [
      'what it calls throws',
      `add_filter('pre_http_request', function () { throw new RuntimeException('from another plugin'); });
       do_action('coursegate_end', ${OLU.id}, 'refund');`,
      'coursegate: shutdown: from another plugin',
    ],
  ])('does not stop the site’s own work when %s', async (_name, php, logged) => {
    expect(await site.run(`${php} echo 'done';`)).toBe('done');
    expect(site.log()).toContain(logged);
  });

  describe('a request with an assertion', () => {
    it('returns 503 while the gate’s keys are unavailable, and recovers', async () => {
      gate.ill(true);
      const answer = await get(ME, asserted());
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
      const fetches = gate.fetches();
      expect((await get(ME, asserted())).status).toBe(503);
      expect(gate.fetches()).toBe(fetches);
      gate.ill(false);
      await askAgain();
      expect((await get(ME, asserted())).status).toBe(200);
    });

    it('is answered for that member, and the next request is anonymous again', async () => {
      const answer = await get(ME, asserted());
      expect(await json(answer)).toEqual({
        status: 200,
        body: {
          id: SAM.id,
          email: SAM.email,
          name: SAM.name,
          memberSince: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          roles: ['author'],
        },
      });
      expect(answer.headers.getSetCookie()).toEqual([]);
      expect(answer.headers.get('cache-control')).toBe('no-store, private');
      expect((await get(ME)).status).toBe(401);
    });

    it('keeps plugins from acting as the member before the REST API responds', async () => {
      const answer = await get(ME, asserted());
      expect([answer.status, answer.headers.get('x-at-init')]).toEqual([200, '0']);
    });

    it.each(Object.entries(FORGERIES))('is refused with %s', async (_title, forge) => {
      const answer = await get(ME, asserted(forge(gate)));
      expect(await json(answer)).toMatchObject({ status: 401, body: { code: 'coursegate_assertion' } });
      expect(answer.headers.get('cache-control')).toContain('no-store');
    });

    it.each([
      ['no grant, like an ID token', { grant_id: undefined }],
      ['a longer lifetime than the gate uses', { exp: Math.floor(Date.now() / 1000) + 3600 }],
      ['an nbf in the future', { nbf: Math.floor(Date.now() / 1000) + 3600 }],
      ['a leading zero in the member ID', { sub: `0${SAM.id}` }],
      ['SQL after the member ID', { sub: `${SAM.id} or 1=1` }],
      ['a line feed after the member ID', { sub: `${SAM.id}\n` }],
    ])('is refused with %s', async (_what, claims) => {
      expect((await get(ME, asserted(gate.assertion(claims)))).status).toBe(401);
    });

    it('is refused on every page if the assertion is invalid, and never served as anonymous', async () => {
      for (const path of ['/', '/wp-login.php', '/wp-json/wp/v2/posts', '/?coursegate=whoami', '/xmlrpc.php']) {
        expect([path, (await get(path, asserted('a.b.c'))).status]).toEqual([path, 401]);
      }
    });

    it('ignores all other identity headers', async () => {
      const headers = { 'x-member-id': ADMIN.id, 'x-member-email': ADMIN.email, 'x-member-name': ADMIN.login };
      expect((await get(ME, headers)).status).toBe(401);
      expect((await json(await get(ME, { ...asserted(), ...headers }))).body).toMatchObject({ id: SAM.id });
    });

    it('is refused if it also has another member’s cookie', async () => {
      const cookie = await signIn(OLU);
      expect((await get(ME, { cookie, ...asserted() })).status).toBe(401);
    });

    it('is refused for a member whom the school has banned', async () => {
      await site.run(`update_user_meta(${SAM.id}, 'banned', '1');`);
      expect((await get(ME, asserted())).status).toBe(401);
      await site.run(`delete_user_meta(${SAM.id}, 'banned');`);
      expect((await get(ME, asserted())).status).toBe(200);
    });

    it.each([
      ['a page', '/'],
      ['the dashboard', '/wp-admin/profile.php'],
      ['the login page', '/wp-login.php'],
      ['XML-RPC', '/xmlrpc.php'],
      ['another REST route', '/wp-json/wp/v2/posts'],
      ['another REST route with rest_route', `${ME}?rest_route=/wp/v2/users/me`],
      ['a listed route with rest_route', `${ME}?rest_route=/coursegate/v1/me/posts`],
      ['a listed route with another spelling of rest_route', `${ME}?rest.route=/coursegate/v1/me/posts`],
      ['a route with the same prefix', '/wp-json/coursegate/v1x'],
    ])('cannot open %s', async (_what, path) => {
      const answer = await get(path, asserted());
      expect([403, 404]).toContain(answer.status);
      expect(await answer.text()).not.toContain(SAM.email);
    });

    it('cannot use a listed route with another method or in a batch', async () => {
      const post = (path: string, headers: Record<string, string>, body: object) =>
        get(
          path,
          { ...asserted(), 'content-type': 'application/json', ...headers },
          { method: 'POST', body: JSON.stringify(body) },
        );
      const title = 'written by an app';
      for (const [path, statuses] of [
        ['/wp-json/wp/v2/posts', [403, 404]],
        ['/wp-json/wp/v2/posts?_method=POST', [403, 404]],
        ['/wp-json/wp/v2/posts?_method=GET', [400]],
      ] as const) {
        expect(statuses).toContain((await post(path, {}, { title, status: 'publish' })).status);
      }
      const batch = { requests: [{ path: '/wp/v2/posts', method: 'POST', body: { title, status: 'publish' } }] };
      const answered = await post('/wp-json/batch/v1', {}, batch);
      expect(answered.status).toBe(403);
      expect(await site.run(`echo count(get_posts(['title' => '${title}', 'post_status' => 'any']));`)).toBe('0');
    });

    it.each([
      ['GET', '?_method=DELETE', {}],
      ['POST', '?_method=GET', {}],
      ['GET', '?_method[]=DELETE', {}],
      ['GET', '', { 'x-http-method-override': 'DELETE' }],
    ])('%s %s %o is refused, because the gate checked the method that was sent', async (method, query, more) => {
      const { status, body } = await json(await get(ME + query, { ...asserted(), ...more }, { method }));
      expect([status, body.code]).toEqual([400, 'coursegate_method']);
      expect((await get(`${ME}?_method=get`, asserted())).status).toBe(200);
    });

    it('is accepted if it is the request that the assertion was made for, also with HEAD and with a query', async () => {
      const bound = (method: string) => asserted(gate.assertion(requestClaims(gate, method, ME)));
      expect(await json(await get(`${ME}?page=1`, bound('GET')))).toMatchObject({ status: 200, body: { id: SAM.id } });
      for (const headers of [bound('HEAD'), asserted()]) {
        expect((await get(ME, headers, { method: 'HEAD' })).status).toBe(200);
      }
    });

    it.each(Object.entries(OTHER_REQUESTS))('is refused if it was made for %s', async (_title, claims) => {
      const answer = await get(ME, asserted(gate.assertion(claims(gate, 'GET', ME))));
      expect(await json(answer)).toMatchObject({ status: 401, body: { code: 'coursegate_assertion' } });
    });

    it.each<[what: string, method: string, path: string, headers: Record<string, string>]>([
      ['another path', 'GET', `${ME}/posts`, {}],
      ['another method', 'POST', ME, {}],
      ['a query that replaces the method', 'GET', `${ME}?_method=DELETE`, {}],
      ['a header field that replaces the method', 'GET', ME, { 'x-http-method-override': 'DELETE' }],
      ['a parameter that replaces the path', 'GET', '/?rest_route=/coursegate/v1/me', {}],
      ...spellingsOf(ME).map((path): [string, string, string, Record<string, string>] => [
        'another spelling of the path',
        'GET',
        path,
        {},
      ]),
    ])('is refused with %s than that of its assertion: %s %s', async (_what, method, path, more) => {
      const bound = asserted(gate.assertion(requestClaims(gate, 'GET', ME)));
      expect((await get(path, { ...bound, ...more }, { method })).status).toBe(401);
    });

    it('is refused without a request in its assertion, if COURSEGATE_BOUND_ONLY is set', async () => {
      const strict = { 'x-test-bound-only': '1' };
      expect((await get(ME, { ...asserted(), ...strict })).status).toBe(401);
      const bound = asserted(gate.assertion(requestClaims(gate, 'GET', ME)));
      expect((await get(ME, { ...bound, ...strict })).status).toBe(200);
    });

    it('is anonymous if the field is empty, as gateways send it', async () => {
      const posts = await get('/wp-json/coursegate/v1/posts', asserted(''));
      expect(posts.status).toBe(200);
      expect((await get(ME, asserted(''))).status).toBe(401);
      expect((await get('/', asserted(''))).status).toBe(200);
    });

    it('fetches the keys again for an unknown key, and then not for a while', async () => {
      await askAgain();
      const before = gate.fetches();
      for (let at = 0; at < 5; at += 1) {
        expect((await get(ME, asserted(gate.assertion({}, { kid: `made-up-${at}` })))).status).toBe(401);
      }
      expect(gate.fetches()).toBe(before + 1);
      gate.rotate();
      expect((await get(ME, asserted())).status).toBe(401);
      await askAgain();
      expect((await get(ME, asserted())).status).toBe(200);
      expect(gate.fetches()).toBe(before + 2);
    });

    it('keeps using the cached keys for a while when the gate is unavailable', async () => {
      await site.run(`$kept = get_transient('coursegate_keys'); $kept['at'] -= 1200;
        set_transient('coursegate_keys', $kept, 3600); delete_transient('coursegate_keys_pause');`);
      gate.ill(true);
      const fetches = gate.fetches();
      expect((await get(ME, asserted())).status).toBe(200);
      expect(gate.fetches()).toBe(fetches + 1);
      gate.ill(false);
    });
  });

  describe('what apps can read', () => {
    const items = async (path: string, token?: string) => (await json(await get(path, asserted(token)))).body;
    const ofOlu = () => gate.assertion({ sub: OLU.id });

    it('includes the member’s own posts and drafts, and no one else’s', async () => {
      const page = await items(`${ME}/posts`);
      expect(page).toMatchObject({ total: 3, nextPage: null });
      expect(page.items.map(({ title, status }: Record<string, string>) => [title, status]).sort()).toEqual([
        ['Sam Ortiz & a draft post', 'draft'],
        ['Sam Ortiz & a private post', 'private'],
        ['Sam Ortiz & a publish post', 'publish'],
      ]);
      expect(JSON.stringify(await items(`${ME}/posts`, ofOlu()))).not.toContain('Sam');
    });

    it('includes the member’s own comments as text, also those awaiting approval', async () => {
      const page = await items(`${ME}/comments`);
      expect(page).toMatchObject({ total: 3, nextPage: null });
      expect(page.items).toContainEqual({
        id: expect.any(String),
        text: 'Sam Ortiz on a draft post',
        approved: false,
        on: 'Sam Ortiz & a draft post',
        writtenAt: expect.stringMatching(/Z$/),
      });
      expect((await items(`${ME}/comments`, ofOlu())).items[0].text).toMatch(/^Olu Adé on/);
    });

    it('includes the member’s courses as the site reports them, in pages', async () => {
      expect(await items(`${ME}/courses`)).toEqual({ items: [], total: 0, nextPage: null });
      await site.run(`for ($n = 1; $n <= 21; $n++) add_user_meta(${SAM.id}, 'course', "Course $n");`);
      expect(await items(`${ME}/courses`)).toMatchObject({ items: { length: 20 }, total: 21, nextPage: 2 });
      expect(await items(`${ME}/courses?page=2`)).toMatchObject({ items: [{ title: 'Course 21' }], nextPage: null });
      expect((await items(`${ME}/courses`, ofOlu())).total).toBe(0);
    });

    it('includes no orders if there is no shop', async () => {
      expect((await get(`${ME}/orders`, asserted())).status).toBe(404);
    });

    it('ignores parameters that name another member', async () => {
      for (const name of ['author', 'user_id', 'id', 'user', 'customer']) {
        expect(await items(`${ME}?${name}=${OLU.id}`)).toMatchObject({ id: SAM.id });
        expect(JSON.stringify(await items(`${ME}/posts?${name}=${OLU.id}`))).not.toContain('Olu');
        expect(JSON.stringify(await items(`${ME}/comments?${name}=${OLU.id}`))).not.toContain('Olu');
      }
    });
  });

  describe('whoami', () => {
    it('identifies the member by the login cookie alone', async () => {
      const before = Math.floor(Date.now() / 1000);
      const cookie = await signIn(SAM);
      const answer = await get('/?coursegate=whoami', { cookie });
      expect(answer.headers.get('cache-control')).toContain('no-store');
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      const { auth_time: authTime, ...member } = JSON.parse(await answer.text());
      expect(member).toEqual({
        id: SAM.id,
        email: SAM.email,
        name: SAM.name,
        username: SAM.login,
        version: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      expect(authTime).toBeGreaterThanOrEqual(before);
      // The response of the REST API to the same browser.
      expect((await get(ME, { cookie })).status).toBe(401);
    });

    it('returns 401 without a cookie, with a changed one, and after signing out', async () => {
      expect(await whoami('')).toEqual({ status: 401, body: { error: 'not_signed_in' } });
      const cookie = await signIn(SAM);
      expect((await whoami(cookie.replace(/(wordpress_logged_in_\w+=)\w+/, `$1${OLU.login}`))).status).toBe(401);
      await site.run(`WP_Session_Tokens::get_instance(${SAM.id})->destroy_all();`);
      expect((await whoami(cookie)).status).toBe(401);
    });

    it('refuses pages of other sites, and every method but GET', async () => {
      const cookie = await signIn(SAM);
      for (const from of ['cross-site', 'same-site']) {
        const answer = await get('/?coursegate=whoami', {
          cookie,
          'sec-fetch-site': from,
          origin: 'https://evil.example',
        });
        expect(answer.status).toBe(403);
        expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      }
      expect(
        (await get('/?coursegate=whoami', { cookie, origin: 'https://evil.example' })).headers.get(
          'access-control-allow-origin',
        ),
      ).toBeNull();
      for (const method of ['POST', 'HEAD', 'PUT', 'OPTIONS']) {
        const answer = await get('/?coursegate=whoami', { cookie }, { method });
        expect([method, answer.status]).toEqual([method, 405]);
      }
    });

    const VERSION = `$_COOKIE = []; echo coursegate_member(get_userdata(${SAM.id}), null)['version'];`;
    it.each([
      ['a new password', `wp_set_password('sam-and-the-river', ${SAM.id});`],
      ['another role', `get_userdata(${SAM.id})->set_role('subscriber');`],
      ['"log out everywhere" by an administrator', `WP_Session_Tokens::get_instance(${SAM.id})->destroy_all();`],
      [
        '"log out everywhere else"',
        `$all = WP_Session_Tokens::get_instance(${SAM.id}); $kept = $all->create(time() + 60); $all->destroy_others($kept);`,
      ],
      ['ending all sessions of all members', 'WP_Session_Tokens::destroy_all_for_all_users();'],
    ])('reports a new version after %s', async (_what, php) => {
      await site.run(`WP_Session_Tokens::get_instance(${SAM.id})->create(time() + 60);`);
      const before = await site.run(VERSION);
      expect(await site.run(VERSION)).toBe(before);
      await site.run(php);
      expect(await site.run(VERSION)).not.toBe(before);
      await site.run(`wp_set_password('${SAM.password}', ${SAM.id}); get_userdata(${SAM.id})->set_role('author');`);
    });

    it('keeps the version after signing in or out, an expired session, or a new name', async () => {
      const before = await site.run(VERSION);
      const cookie = await signIn(SAM);
      const answer = await get('/wp-login.php?action=logout', { cookie });
      const out = /href="([^"]*action=logout[^"]*)"/.exec(await answer.text())?.[1]?.replaceAll('&amp;', '&') ?? '';
      expect((await get(out.slice(site.url.length), { cookie })).status).toBe(302);
      expect((await whoami(cookie)).status).toBe(401);
      await site.run(`update_user_meta(${SAM.id}, 'session_tokens', ['old' => ['expiration' => time() - 10, 'login' => 1]]);
        WP_Session_Tokens::get_instance(${SAM.id})->create(time() + 60);
        wp_update_user(['ID' => ${SAM.id}, 'first_name' => 'Samuel']);`);
      expect(await site.run(VERSION)).toBe(before);
    });

    it('leaves no data of a member who is deleted while signed in', async () => {
      const left = await site.run(`require_once ABSPATH . 'wp-admin/includes/user.php';
        $id = wp_insert_user(['user_login' => 'short', 'user_pass' => 'short']);
        WP_Session_Tokens::get_instance($id)->create(time() + 60);
        wp_delete_user($id);
        echo $GLOBALS['wpdb']->get_var("select count(*) from wp_usermeta where user_id = $id");`);
      expect(left).toBe('0');
    });
  });

  describe('the bridge', () => {
    const callback = () => `${gate.origin}/oauth/sign-in/back`;
    const asked = (fields: Record<string, string> = {}, secret = gate.secret) => ({
      coursegate: 'bridge',
      ...bridgeQuery(secret, { nonce: 'n-1', return_sso_url: callback(), ...fields }),
    });
    const open = (query: Record<string, string>, cookie = '') => get(`/?${new URLSearchParams(query)}`, { cookie });

    it('returns the signed-in member to the gate, signed', async () => {
      const cookie = await signIn(OLU);
      const answer = await open(asked(), cookie);
      expect([answer.status, answer.headers.get('referrer-policy')]).toEqual([302, 'no-referrer']);
      const url = new URL(answer.headers.get('location') ?? '');
      expect(url.origin + url.pathname).toBe(callback());
      const sso = url.searchParams.get('sso') ?? '';
      expect(url.searchParams.get('sig')).toBe(bridgeSignature(gate.secret, sso));
      const fields = Object.fromEntries(new URLSearchParams(Buffer.from(sso, 'base64').toString()));
      const { body } = await whoami(cookie);
      expect(fields).toEqual({
        nonce: 'n-1',
        external_id: OLU.id,
        email: OLU.email,
        name: OLU.name,
        username: OLU.login,
        version: body.version,
        auth_time: String(body.auth_time),
      });
    });

    it('sends a member who is not signed in to the login page, and from there back to itself', async () => {
      // + and / in base64 survive two query strings.
      const sso = Buffer.from(`nonce=~~~~~~??????&return_sso_url=${callback()}`).toString('base64');
      expect(sso).toMatch(/[+].*[/]/);
      const query = { coursegate: 'bridge', sso, sig: bridgeSignature(gate.secret, sso) };
      const login = new URL((await open(query)).headers.get('location') ?? '');
      expect(login.pathname).toBe('/wp-login.php');
      const page = await (await get(login.pathname + login.search)).text();
      const back =
        /name="redirect_to" value="([^"]*)"/.exec(page)?.[1]?.replaceAll('&#038;', '&').replaceAll('&amp;', '&') ?? '';
      const signedIn = await get(
        '/wp-login.php',
        { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
        {
          method: 'POST',
          body: new URLSearchParams({ log: OLU.login, pwd: OLU.password, redirect_to: back }),
        },
      );
      const here = new URL(signedIn.headers.get('location') ?? '');
      const cookie = signedIn.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
      const answer = await get(here.pathname + here.search, { cookie });
      expect(answer.headers.get('location')).toContain(callback());
    });

    it('requests a new sign-in once when the member wants to switch accounts', async () => {
      const cookie = await signIn(OLU);
      const query = asked({ prompt: 'select_account' });
      const login = new URL((await open(query, cookie)).headers.get('location') ?? '');
      expect([login.pathname, login.searchParams.get('reauth')]).toEqual(['/wp-login.php', '1']);
      const back = new URL(login.searchParams.get('redirect_to') ?? '');
      expect((await get(back.pathname + back.search, { cookie })).headers.get('location')).toContain(callback());
    });

    it.each<Record<string, string>>([{ prompt: 'login' }, { max_age: '0' }])(
      'requests the password again for %j, once, and reports the new time',
      async (wish) => {
        const cookie = await signIn(OLU);
        const { body } = await whoami(cookie);
        const seconds = () => Math.floor(Date.now() / 1000);
        await expect.poll(seconds).toBeGreaterThan(body.auth_time);
        const login = new URL((await open(asked(wish), cookie)).headers.get('location') ?? '');
        expect([login.pathname, login.searchParams.get('reauth')]).toEqual(['/wp-login.php', '1']);
        const shown = await get(login.pathname + login.search, { cookie });
        expect([shown.status, await shown.text()]).toEqual([200, expect.stringContaining('name="pwd"')]);
        const back = new URL(login.searchParams.get('redirect_to') ?? '');
        const authTime = async (cookie: string) => {
          const answer = await get(back.pathname + back.search, { cookie });
          const sso = new URL(answer.headers.get('location') ?? '').searchParams.get('sso') ?? '';
          return Number(new URLSearchParams(Buffer.from(sso, 'base64').toString()).get('auth_time'));
        };
        // A member who comes back without a new sign-in is reported with the old time, which the gate refuses.
        expect(await authTime(cookie)).toBe(body.auth_time);
        expect(await authTime(await signIn(OLU))).toBeGreaterThan(body.auth_time);
      },
    );

    it('does not request the password if the sign-in is recent enough', async () => {
      const answer = await open(asked({ max_age: '3600' }), await signIn(OLU));
      expect(answer.headers.get('location')).toContain(callback());
    });

    it('returns the member to the host of the gate’s pages only if COURSEGATE_PAGES_ORIGIN is set', async () => {
      const cookie = await signIn(OLU);
      const back = async (address: string, headers: Record<string, string>) => {
        const answer = await get(`/?${new URLSearchParams(asked({ return_sso_url: address }))}`, {
          cookie,
          ...headers,
        });
        return [answer.status, answer.headers.get('location')?.split('?')[0]];
      };
      const there = 'https://login.gate.example/oauth/sign-in/callback/bridge';
      const configured = { 'x-test-pages': '1' };
      expect(await back(there, configured)).toEqual([302, there]);
      expect(await back(callback(), configured)).toEqual([302, callback()]);
      expect(await back(there, {})).toEqual([403, undefined]);
      for (const address of [
        'https://login.gate.example.evil.example/back',
        'https://login.gate.example@evil.example/back',
        'https://login.gate.example:8443/back',
        'http://login.gate.example/back',
        'https://other.gate.example/back',
        'https://login.gate.example/\\evil.example',
      ])
        expect([address, ...(await back(address, configured))]).toEqual([address, 403, undefined]);
    });

    const stranger = 'x'.repeat(64);
    it.each<[string, () => Record<string, string>]>([
      ['no signature', () => ({ ...asked(), sig: '' })],
      ['the signature of another secret', () => asked({}, stranger)],
      [
        'the signature of the decoded text',
        () => {
          const { sso } = bridgeQuery(gate.secret, { nonce: 'n', return_sso_url: callback() });
          return {
            coursegate: 'bridge',
            sso,
            sig: bridgeSignature(gate.secret, Buffer.from(sso, 'base64').toString()),
          };
        },
      ],
      [
        'a payload that is not base64',
        () => ({ coursegate: 'bridge', sso: '!!', sig: bridgeSignature(gate.secret, '!!') }),
      ],
      ['no nonce', () => asked({ nonce: '' })],
      ['no return address', () => asked({ return_sso_url: '' })],
      ['a return address on another site', () => asked({ return_sso_url: 'https://evil.example/back' })],
      [
        'a return address that starts with the gate’s',
        () => asked({ return_sso_url: `${gate.origin}.evil.example/back` }),
      ],
      ['the gate’s name before an @', () => asked({ return_sso_url: `${gate.origin}@evil.example/` })],
      ['a backslash', () => asked({ return_sso_url: `${gate.origin}/\\evil.example` })],
      ['a line feed', () => asked({ return_sso_url: `${gate.origin}/a\r\nSet-Cookie: a=b` })],
      ['a script as return address', () => asked({ return_sso_url: 'javascript:alert(1)' })],
      [
        'two return addresses',
        () => {
          const text = new URLSearchParams([
            ['nonce', 'n'],
            ['return_sso_url', callback()],
            ['return_sso_url', callback()],
          ]);
          const sso = Buffer.from(text.toString()).toString('base64');
          return { coursegate: 'bridge', sso, sig: bridgeSignature(gate.secret, sso) };
        },
      ],
      ['an array as payload', () => ({ coursegate: 'bridge', 'sso[]': 'a', sig: bridgeSignature(gate.secret, 'a') })],
    ])('refuses %s, with and without a session', async (_what, query) => {
      for (const cookie of ['', await signIn(OLU)]) {
        const answer = await open(query(), cookie);
        expect(await json(answer)).toEqual({ status: 403, body: { error: 'not_from_the_gate' } });
        expect(answer.headers.get('location')).toBeNull();
      }
    });
  });
});
