import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { COMMAND_SECRET } from '../support/commands.ts';
import { startCommandedGate } from './contract/commanded-gate.ts';
import { FORGERIES } from './contract/forgeries.ts';
import { OTHER_REQUESTS, requestClaims } from './contract/one-request.ts';
import { bridgeQuery, bridgeSignature, type SigningGate, startKeys } from './contract/signing-gate.ts';
import { type MoodleSite, phpPresent, startMoodle } from './moodle-site.ts';

const row = (id: number, username: string, more: Record<string, string | number> = {}) => ({
  id,
  username,
  firstname: username === 'sam' ? 'Sam' : 'Somebody',
  lastname: 'Ortiz',
  email: `${username}@example.com`,
  password: `$6$hash-of-${username}`,
  auth: 'manual',
  confirmed: 1,
  deleted: 0,
  suspended: 0,
  mnethostid: 1,
  ...more,
});

const MEMBERS = {
  1: row(1, 'guest'),
  2: row(2, 'olu'),
  3: row(3, 'kit', { suspended: 1 }),
  4: row(4, 'sam'),
  5: row(5, 'gone', { deleted: 1 }),
  6: row(6, 'new', { confirmed: 0 }),
  7: row(7, 'shut', { auth: 'nologin' }),
  8: row(8, 'elsewhere', { mnethostid: 2 }),
  9: row(9, 'unready', { todo: 'sitepolicynotagreed' }),
};
const SAM = '4';
const RECHECK_KEY = 'r'.repeat(40);

/** What Moodle says of the courses of Sam. A title is HTML, in the language of the current user. */
const ENROLMENTS = {
  7: {
    id: 7,
    shortname: 'BÄUME',
    html: 'B&auml;ume &amp; &bdquo;<b>Blumen</b>&ldquo; – O&#039;Neill',
    end: 0,
    progress: 100 / 3,
  },
  8: { id: 8, shortname: 'KNOTS 1/2', html: 'Knots', end: 1_828_249_200, progress: null },
  9: { id: 9, shortname: 'SAILS', html: 'Sails', end: false, progress: null },
};
const MODULES = {
  70: { name: 'Roots &amp; leaves', visible: true },
  71: { name: 'Answers', visible: false },
  80: { name: 'Bowline', visible: true },
};

describe.skipIf(!phpPresent())('the Moodle plugin', () => {
  let gate: SigningGate;
  let site: MoodleSite;
  const start = () => ({
    members: MEMBERS,
    sessions: {
      'of-sam': { member: SAM, at: 1_795_000_000 },
      'of-guest': { member: '1', at: 1 },
      'of-suspended': { member: '3', at: 1 },
      'of-unready': { member: '9', at: 1 },
      'of-an-administrator': { member: SAM, at: 1, session: { loggedinas: true } },
    },
    settings: {
      origin: gate.origin,
      upstream: gate.upstream,
      secret: gate.secret,
      jwksurl: gate.jwksUrl,
      functions: 'courses\n site, enrol unknown',
      key: RECHECK_KEY,
    },
    mfa: false,
    maintenance: false,
    failing: '' as const,
    courses: ENROLMENTS,
    modules: MODULES,
    viewed: [
      { id: 71, course: 7 },
      { id: 80, course: 8 },
      { id: 70, course: 7 },
      { id: 79, course: 8 },
    ],
  });
  beforeAll(async () => {
    gate = await startKeys(SAM);
    site = await startMoodle(start());
  });
  beforeEach(() => site.change(start()));
  afterAll(async () => {
    const complaints = site?.complaints();
    await site?.close();
    await gate?.close();
    expect(complaints).toBe('');
  });

  const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(`${site.url}/local/coursegate/${path}`, { redirect: 'manual', ...init, headers });
  const json = async (answer: Response) => ({ status: answer.status, body: JSON.parse(await answer.text()) });
  const asserted = (token: string = gate.assertion()) => ({ 'x-coursegate-assertion': token });
  const as = (session: string) => ({ cookie: `MoodleSession=${session}` });
  const COURSES = 'api.php?function=courses';

  it('loads every file, and has a text for every setting and a callback for every event', async () => {
    const { status, body } = await json(await fetch(`${site.url}/load.php`));
    expect(status).toBe(200);
    expect(body.settings).toEqual(
      ['origin', 'pagesorigin', 'upstream', 'jwksurl', 'secret', 'adminurl', 'adminsecret', 'key', 'functions'].map(
        (name) => `local_coursegate/${name}`,
      ),
    );
    expect([body.component, body.caches, body.callable]).toEqual([
      'local_coursegate',
      ['keys'],
      [true, true, true, true, true, true],
    ]);
    expect(Object.keys(body.classes).length).toBeGreaterThan(8);
    expect(Object.values(body.classes)).not.toContain(false);
  });

  it('reports events to the gate, signed', async () => {
    const commanded = await startCommandedGate();
    try {
      const { settings, ...rest } = start();
      const tell = async (query: string) => {
        const answer = await fetch(`${site.url}/events.php?${query}`);
        expect(await answer.text()).toBe('over');
      };
      await tell('event=user_deleted&objectid=4');
      expect(commanded.connections()).toBe(0);
      site.change({ ...rest, settings: { ...settings, adminurl: `${commanded.admin}/`, adminsecret: COMMAND_SECRET } });
      await tell('event=user_password_updated&objectid=9&relateduserid=4&contextlevel=30');
      await tell('event=user_updated&objectid=3');
      await tell('event=user_updated&objectid=4');
      await tell('event=user_deleted&objectid=5');
      await tell('event=role_assigned&objectid=1&relateduserid=2&contextlevel=10');
      await tell('event=role_unassigned&objectid=1&relateduserid=2&contextlevel=50');
      await tell('event=role_unassigned&objectid=1&relateduserid=7&contextlevel=10');
      expect(commanded.ended()).toEqual([
        { id: '4', reason: 'password changed', by: 'backend' },
        { id: '3', reason: 'suspended', by: 'backend' },
        { id: '5', reason: 'left', by: 'backend' },
        { id: '2', reason: 'role changed', by: 'backend' },
        { id: '7', reason: 'role changed', by: 'backend' },
      ]);
      expect(commanded.refused()).toBe(0);
      // The site saves the member even if the plugin cannot read them.
      site.change({ failing: 'query' });
      await tell('event=user_updated&objectid=3');
      site.change({ failing: '' });
      for (const state of ['refuse', 'hang'] as const) {
        commanded.wire(state);
        await tell('event=user_deleted&objectid=5');
      }
      expect(commanded.ended()).toHaveLength(5);
    } finally {
      await commanded.close();
    }
  });

  describe('api.php', () => {
    it('runs a function as the member in the assertion', async () => {
      const answer = await get('api.php?function=site', asserted());
      expect(answer.headers.get('cache-control')).toBe('no-store, private');
      expect(await json(answer)).toEqual({ status: 200, body: { called: 'site', as: 'sam', with: {} } });
    });

    it('fills in the member’s ID, whatever the request says', async () => {
      for (const asked of ['', '&userid=2', '&userid[]=2', '&userid=']) {
        const { body } = await json(await get(`${COURSES}&limit=3${asked}`, asserted()));
        expect(body).toEqual({ called: 'courses', as: 'sam', with: { limit: '3', userid: 4 } });
      }
    });

    it.each(['hidden', 'enrol', 'unknown', '', 'courses ', 'site,courses'])(
      'does not run the function %j',
      async (name) => {
        const answer = await get(`api.php?function=${encodeURIComponent(name)}`, asserted());
        expect(await json(answer)).toEqual({ status: 403, body: { error: 'function' } });
      },
    );

    it('runs no function without an assertion, whatever else is sent', async () => {
      const pretended = { 'x-member-id': SAM, 'x-member-email': 'sam@example.com', ...as('of-sam') };
      expect((await get(COURSES, pretended)).status).toBe(401);
      expect((await json(await get(COURSES, { ...pretended, 'x-member-id': '2', ...asserted() }))).body.as).toBe('sam');
    });

    it.each(Object.entries(FORGERIES))('refuses an assertion with %s', async (_title, forge) => {
      expect(await json(await get(COURSES, asserted(forge(gate))))).toMatchObject({
        status: 401,
        body: { error: 'assertion' },
      });
    });

    it.each([
      ['no grant, like an ID token', { grant_id: undefined }],
      ['a longer lifetime than the gate uses', { exp: Math.floor(Date.now() / 1000) + 3600 }],
      ['an nbf in the future', { nbf: Math.floor(Date.now() / 1000) + 3600 }],
      ['a leading zero in the member ID', { sub: `0${SAM}` }],
      ['SQL after the member ID', { sub: `${SAM} or 1=1` }],
      ['a line feed after the member ID', { sub: `${SAM}\n` }],
    ])('refuses an assertion with %s', async (_what, claims) => {
      expect((await get(COURSES, asserted(gate.assertion(claims)))).status).toBe(401);
    });

    it.each(Object.keys(MEMBERS).filter((id) => !['2', SAM, '9'].includes(id)))('refuses member %s', async (sub) => {
      expect((await get(COURSES, asserted(gate.assertion({ sub })))).status).toBe(401);
    });

    it('is run for the request that the assertion was made for, and for no other', async () => {
      const path = '/local/coursegate/api.php';
      const send = (claims: Record<string, unknown>, at = path, init: RequestInit = {}) =>
        fetch(`${site.url}${at}?function=site`, { ...init, headers: asserted(gate.assertion(claims)) });
      const own = requestClaims(gate, 'GET', path);
      expect((await send(own)).status).toBe(200);
      for (const claims of Object.values(OTHER_REQUESTS)) {
        expect(await json(await send(claims(gate, 'GET', path)))).toMatchObject({
          status: 401,
          body: { error: 'assertion', message: 'made for another request' },
        });
      }
      expect((await send(own, `${path}/more`)).status).toBe(401);
      expect((await send(own, path.replace('api', '%61pi'))).status).toBe(401);
      expect((await send(own, path, { method: 'POST' })).status).toBe(405);
    });

    it('reports only the code of a failure', async () => {
      for (const [code, status] of [
        ['invalidparameter', 400],
        ['nopermissions', 403],
        ['requireloginerror', 403],
        ['invalidrecord', 404],
        ['invalidcourseid', 404],
        ['codingerror', 500],
        ['generalexceptionmessage', 500],
        ['dmlreadexception', 503],
        ['dbconnectionfailed', 503],
      ] as const) {
        const answer = await get(`${COURSES}&fail=${code}`, asserted());
        expect(await json(answer)).toEqual({ status, body: { error: 'moodle', code } });
      }
    });

    it('runs nothing for a member who has to do something first', async () => {
      const answer = await get('api.php?function=site', asserted(gate.assertion({ sub: '9' })));
      expect(await json(answer)).toEqual({ status: 403, body: { error: 'moodle', code: 'sitepolicynotagreed' } });
    });

    it('returns 503 without the keys, fetches them again for an unknown key, and waits before the next fetch', async () => {
      site.forgetKeys('all');
      gate.ill(true);
      expect((await get(COURSES, asserted())).status).toBe(503);
      const asked = gate.fetches();
      expect((await get(COURSES, asserted())).status).toBe(503);
      expect(gate.fetches()).toBe(asked);
      gate.ill(false);
      site.forgetKeys('pause');
      expect((await get(COURSES, asserted())).status).toBe(200);
      gate.rotate();
      expect((await get(COURSES, asserted())).status).toBe(200);
      const before = gate.fetches();
      expect((await get(COURSES, asserted(gate.assertion({}, { kid: 'made-up' })))).status).toBe(401);
      expect(gate.fetches()).toBe(before);
      gate.ill(true);
      site.forgetKeys('pause');
      expect((await get(COURSES, asserted(gate.assertion({}, { kid: 'made-up' })))).status).toBe(401);
      expect((await get(COURSES, asserted())).status).toBe(200);
      gate.ill(false);
    });
  });

  it.each(['whoami.php', 'member.php', 'me.php', 'courses.php', 'api.php?function=site'])(
    '%s is read-only, and unavailable during maintenance and while the database fails',
    async (page) => {
      const headers = { ...as('of-sam'), ...asserted(), 'coursegate-key': RECHECK_KEY };
      const path = page === 'member.php' ? 'member.php?id=4' : page;
      expect((await get(path, headers)).status).toBe(200);
      expect((await get(path, headers, { method: 'POST' })).status).toBe(405);
      site.change({ maintenance: true });
      expect(await json(await get(path, headers))).toEqual({ status: 503, body: { error: 'maintenance' } });
      for (const [failing, code] of [
        ['setup', 'dbconnectionfailed'],
        ['query', 'dmlreadexception'],
      ] as const) {
        site.change({ maintenance: false, failing });
        const answer = await get(path, headers);
        expect(answer.headers.get('retry-after')).toBe('2');
        expect(await json(answer)).toEqual({ status: 503, body: { error: 'moodle', code } });
      }
    },
  );

  describe('me.php and courses.php', () => {
    it('return the account and the courses of the member in the assertion', async () => {
      expect(await json(await get('me.php?id=2', asserted()))).toEqual({
        status: 200,
        body: { id: '4', email: 'sam@example.com', name: 'Sam Ortiz', username: 'sam' },
      });
      const course = (id: number) => `${site.url}/course/view.php?id=${id}`;
      const module = (id: number) => `${site.url}/mod/page/view.php?id=${id}`;
      expect(await json(await get('courses.php?userid=2', asserted()))).toEqual({
        status: 200,
        body: {
          courses: [
            {
              id: '7',
              slug: 'BÄUME',
              title: "Bäume & „Blumen“ – O'Neill",
              url: course(7),
              expires: null,
              lifetime: true,
              progress: expect.closeTo(33.333, 3),
              lastViewed: { id: '70', title: 'Roots & leaves', url: module(70) },
            },
            {
              id: '8',
              slug: 'KNOTS 1/2',
              title: 'Knots',
              url: course(8),
              expires: '2027-12-08T07:00:00Z',
              lifetime: false,
              progress: null,
              lastViewed: { id: '80', title: 'Bowline', url: module(80) },
            },
            {
              id: '9',
              slug: 'SAILS',
              title: 'Sails',
              url: course(9),
              expires: null,
              lifetime: false,
              progress: null,
              lastViewed: null,
            },
          ],
        },
      });
    });

    it('return an empty list to a member without courses, and no last activity without a log', async () => {
      expect((await json(await get('courses.php', asserted(gate.assertion({ sub: '2' }))))).body).toEqual({
        courses: [],
      });
      site.change({ viewed: null });
      const { body } = await json(await get('courses.php', asserted()));
      expect(body.courses.map(({ lastViewed }: { lastViewed: unknown }) => lastViewed)).toEqual([null, null, null]);
    });

    it.each(['me.php', 'courses.php'])('refuse every request to %s without a valid assertion', async (page) => {
      const pretended = { 'x-member-id': SAM, ...as('of-sam'), 'coursegate-key': RECHECK_KEY };
      expect((await get(page, pretended)).status).toBe(401);
      expect((await get(page, { ...pretended, ...asserted(gate.assertion({ sub: '3' })) })).status).toBe(401);
      expect((await get(page, { ...pretended, ...asserted(gate.assertion({ sub: '9' })) })).status).toBe(403);
    });
  });

  describe('member.php', () => {
    const ask = (id: string, key = RECHECK_KEY) => get(`member.php?${id}`, { 'coursegate-key': key, ...as('of-sam') });

    it('says whether a member is active, with the version that whoami reports', async () => {
      const { body } = await json(await get('whoami.php', as('of-sam')));
      expect(await json(await ask('id=4'))).toEqual({ status: 200, body: { active: true, version: body.version } });
      for (const id of ['1', '3', '5', '6', '7', '8', '99', '04', '4%20', '', '4/..']) {
        expect(await json(await ask(`id=${id}`))).toEqual({ status: 200, body: { active: false } });
      }
      expect((await json(await ask('id[]=4'))).body).toEqual({ active: false });
    });

    it('says what a member is, at the site, where they are actively enrolled, and below a category, if it is asked', async () => {
      const role = (shortname: string, contextlevel: string, course: string | null, visible = '1') => ({
        ...{ shortname, contextlevel, course, visible },
      });
      site.change({
        ...start(),
        assigned: {
          4: [
            role('coursecreator', '10', null),
            role('editingteacher', '50', '7'),
            role('student', '50', '8'),
            role('ta', '50', '8'),
            role('editingteacher', '50', '9'),
            // A category above 8, 9, 10 and 11. The last is hidden.
            ...['8', '9', '10', '11'].map((course) => role('ta', '40', course, course === '11' ? '0' : '1')),
            ...['8', '9', '10', '11'].map((course) => role('manager', '40', course, course === '11' ? '0' : '1')),
          ],
        },
        capabilities: { '10': ['moodle/course:view'], '11': ['moodle/course:view'] },
      });
      expect((await json(await ask('id=4&roles=1'))).body).toEqual({
        active: true,
        version: expect.any(String),
        roles: ['coursecreator'],
        courses: { '7': ['editingteacher'], '8': ['student', 'ta', 'manager'], '10': ['ta', 'manager'] },
      });
      site.change({ capabilities: { '11': ['moodle/course:view', 'moodle/course:viewhiddencourses'] } });
      expect((await json(await ask('id=4&roles=1'))).body.courses).toEqual({
        ...{ '7': ['editingteacher'], '8': ['student', 'ta', 'manager'], '11': ['ta', 'manager'] },
      });
      expect((await json(await ask('id=2&roles=1'))).body).toMatchObject({ roles: ['admin'], courses: {} });
      expect(await (await ask('id=2&roles=1')).text()).toContain('"courses":{}');
      expect((await json(await ask('id=3&roles=1'))).body).toEqual({ active: false });
      expect((await ask('id=4&roles=1', 'x'.repeat(40))).status).toBe(401);
    });

    it('refuses every request without the key, and all if there is none, with 401', async () => {
      for (const key of ['', 'x'.repeat(40), RECHECK_KEY.slice(1)]) expect((await ask('id=4', key)).status).toBe(401);
      const { settings, ...rest } = start();
      for (const key of ['', 'short']) {
        site.change({ ...rest, settings: { ...settings, key } });
        expect((await ask('id=4', key)).status).toBe(401);
      }
    });
  });

  describe('whoami.php', () => {
    it('identifies the signed-in member', async () => {
      const answer = await get('whoami.php', as('of-sam'));
      expect(answer.headers.get('cache-control')).toBe('no-store, private');
      expect(await json(answer)).toEqual({
        status: 200,
        body: {
          id: '4',
          email: 'sam@example.com',
          name: 'Sam Ortiz',
          username: 'sam',
          version: expect.stringMatching(/^[0-9a-f]{32}$/),
          auth_time: 1_795_000_000,
        },
      });
    });

    it.each(['', 'of-nobody', 'of-guest', 'of-suspended', 'of-unready', 'of-an-administrator'])(
      'returns 401 for the session %j',
      async (session) => {
        expect((await get('whoami.php', as(session))).status).toBe(401);
      },
    );

    it('returns 401 until the second factor has been verified', async () => {
      site.change({ mfa: true });
      expect((await get('whoami.php', as('of-sam'))).status).toBe(401);
      expect((await get('whoami.php', as('of-guest'))).status).toBe(401);
      const shown = { member: SAM, at: 1, session: { tool_mfa_authenticated: true } };
      site.change({ sessions: { 'of-sam': shown } });
      expect((await get('whoami.php', as('of-sam'))).status).toBe(200);
    });

    it('returns 503 if the database fails while it checks what the member still has to do', async () => {
      site.change({ members: { ...MEMBERS, [SAM]: row(4, 'sam', { todo: 'dmlreadexception' }) } });
      expect((await get('whoami.php', as('of-sam'))).status).toBe(503);
    });

    it.each(['password', 'auth'])('reports a new version after a change of %s', async (field) => {
      const version = async () => (await json(await get('whoami.php', as('of-sam')))).body.version;
      const before = await version();
      expect(await version()).toBe(before);
      site.change({ members: { ...MEMBERS, [SAM]: row(4, 'sam', { lastname: 'Ortega', email: 'new@example.com' }) } });
      expect(await version()).toBe(before);
      site.change({ members: { ...MEMBERS, [SAM]: row(4, 'sam', { [field]: 'another' }) } });
      expect(await version()).not.toBe(before);
    });

    it('refuses pages of other sites, and every method but GET', async () => {
      for (const from of ['cross-site', 'same-site']) {
        expect((await get('whoami.php', { ...as('of-sam'), 'sec-fetch-site': from })).status).toBe(403);
      }
      const answer = await get('whoami.php', { ...as('of-sam'), origin: 'https://evil.example' });
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect((await get('whoami.php', as('of-sam'), { method: 'POST' })).status).toBe(405);
    });
  });

  describe('signin.php', () => {
    const open = (returnTo: string, session = '', more = '') =>
      get(`signin.php?return_to=${encodeURIComponent(returnTo)}${more}`, as(session));
    const at = (answer: Response) => answer.headers.get('location') ?? '';

    it('sends a member to the login page, then back to itself, and then on', async () => {
      const login = new URL(at(await open('/oauth/interaction/a1?x=1&y=2')));
      expect(login.pathname).toBe('/login/index.php');
      const back = new URL(login.searchParams.get('then') ?? '');
      const answer = await get(`signin.php${back.search}`, as('of-sam'));
      expect(at(answer)).toBe('/oauth/interaction/a1?x=1&y=2');
    });

    it('signs a member out once they agree, so that another can sign in', async () => {
      for (const session of ['of-sam', 'of-an-administrator']) {
        const question = await open('/oauth/x', session);
        expect([question.status, question.headers.getSetCookie()]).toEqual([200, []]);
        expect(await question.text()).toContain('You are signed in as Sam Ortiz.');
        const agree = (sesskey: string) =>
          get('signin.php', as(session), {
            method: 'POST',
            body: new URLSearchParams({ return_to: '/oauth/x', sesskey }),
          });
        const forged = await agree('of-another-session');
        expect([forged.status, forged.headers.getSetCookie()]).toEqual([403, []]);
        const answer = await agree('of-this-session');
        expect(answer.headers.getSetCookie()).toEqual(['MoodleSession=; Max-Age=0']);
        expect(new URL(at(answer)).searchParams.get('again')).toBe('1');
        expect(at(await open('/oauth/x', session, '&again=1'))).toBe('/oauth/x');
      }
    });

    it('sends a member who has to do something first there, and not to sign in again', async () => {
      expect(at(await open('/oauth/x', 'of-unready'))).toBe(`${site.url}/todo/sitepolicynotagreed`);
    });

    it('is where a browser returns that still has to provide the second factor', async () => {
      site.change({ mfa: true });
      const factor = new URL(at(await open('/oauth/x?y=1', 'of-sam')));
      expect(factor.pathname).toBe('/admin/tool/mfa/auth.php');
      const back = new URL(factor.searchParams.get('then') ?? '');
      site.change({ mfa: false });
      expect(at(await get(`signin.php${back.search}`, as('of-sam')))).toBe('/oauth/x?y=1');
    });

    it.each([
      '',
      '/',
      '/my/',
      '//evil.example/oauth/',
      'https://evil.example/oauth/',
      '/oauth/\\evil',
      '/oauth/a\r\nb',
      '/oauth/#a',
    ])('refuses to redirect to %j', async (returnTo) => {
      for (const session of ['', 'of-sam']) expect((await open(returnTo, session)).status).toBe(400);
    });

    it('refuses a list as the return address', async () => {
      for (const session of ['', 'of-sam']) {
        expect((await get('signin.php?return_to[]=/oauth/x', as(session))).status).toBe(400);
      }
    });
  });

  describe('bridge.php', () => {
    const callback = () => `${gate.origin}/oauth/sign-in/back`;
    const asked = (fields: Record<string, string> = {}, secret = gate.secret) =>
      bridgeQuery(secret, { nonce: 'n-1', return_sso_url: callback(), ...fields });
    const open = (query: Record<string, string>, session = '') =>
      get(`bridge.php?${new URLSearchParams(query)}`, as(session));
    /** Sends the form that asks a signed-in member to sign out. */
    const agree = (query: Record<string, string>) =>
      get('bridge.php', as('of-sam'), {
        method: 'POST',
        body: new URLSearchParams({ ...query, sesskey: 'of-this-session' }),
      });

    it('returns the signed-in member to the gate, signed', async () => {
      const url = new URL((await open(asked(), 'of-sam')).headers.get('location') ?? '');
      expect(url.origin + url.pathname).toBe(callback());
      const sso = url.searchParams.get('sso') ?? '';
      expect(url.searchParams.get('sig')).toBe(bridgeSignature(gate.secret, sso));
      const { body } = await json(await get('whoami.php', as('of-sam')));
      expect(Object.fromEntries(new URLSearchParams(Buffer.from(sso, 'base64').toString()))).toEqual({
        nonce: 'n-1',
        external_id: '4',
        email: 'sam@example.com',
        name: 'Sam Ortiz',
        username: 'sam',
        version: body.version,
        auth_time: '1795000000',
      });
    });

    it('sends a member who is not signed in, or wants to switch accounts, to the login page and back', async () => {
      const login = new URL((await open(asked())).headers.get('location') ?? '');
      expect(login.pathname).toBe('/login/index.php');
      const back = new URL(login.searchParams.get('then') ?? '');
      expect((await get(`bridge.php${back.search}`, as('of-sam'))).headers.get('location')).toContain(callback());
      const other = await agree(asked({ prompt: 'select_account' }));
      expect(other.headers.getSetCookie()).toEqual(['MoodleSession=; Max-Age=0']);
    });

    it('requests a new sign-in for prompt=login, or if the last one is too old, once', async () => {
      const age = Math.floor(Date.now() / 1000) - 1_795_000_000;
      for (const wish of [{ prompt: 'login' }, { max_age: '0' }, { max_age: String(age - 1000) }]) {
        const query = asked(wish);
        expect((await open(query, 'of-sam')).headers.getSetCookie()).toEqual([]);
        const answer = await agree(query);
        expect(answer.headers.getSetCookie()).toEqual(['MoodleSession=; Max-Age=0']);
        const back = new URL(answer.headers.get('location') ?? '');
        expect((await get(`bridge.php${back.search}`, as('of-sam'))).headers.get('location')).toContain(callback());
      }
      const recent = await open(asked({ max_age: String(age + 1000) }), 'of-sam');
      expect(recent.headers.get('location')).toContain(callback());
    });

    it('returns the member to the host of the gate’s pages only if it is configured', async () => {
      const back = async (address: string) => {
        const answer = await open(asked({ return_sso_url: address }), 'of-sam');
        return [answer.status, answer.headers.get('location')?.split('?')[0]];
      };
      const there = 'https://login.gate.example/oauth/sign-in/callback/bridge';
      expect(await back(there)).toEqual([403, undefined]);
      const { settings, ...rest } = start();
      site.change({ ...rest, settings: { ...settings, pagesorigin: 'https://login.gate.example' } });
      expect(await back(there)).toEqual([302, there]);
      expect(await back(callback())).toEqual([302, callback()]);
      for (const address of [
        'https://login.gate.example.evil.example/back',
        'https://login.gate.example@evil.example/back',
        'https://login.gate.example:8443/back',
        'http://login.gate.example/back',
        'https://other.gate.example/back',
        'https://login.gate.example/\\evil.example',
      ])
        expect([address, ...(await back(address))]).toEqual([address, 403, undefined]);
    });

    it('refuses suspended members and administrators who are logged in as a member', async () => {
      for (const session of ['of-suspended', 'of-an-administrator']) {
        expect((await open(asked(), session)).status).toBe(403);
      }
    });

    it.each<[string, () => Record<string, string>]>([
      ['the signature of another secret', () => asked({}, 'x'.repeat(64))],
      ['no signature', () => ({ ...asked(), sig: '' })],
      ['no nonce', () => asked({ nonce: '' })],
      ['a return address on another site', () => asked({ return_sso_url: `${gate.origin}.evil.example/` })],
    ])('refuses %s, with and without a session', async (_what, query) => {
      for (const session of ['', 'of-sam']) expect((await open(query(), session)).status).toBe(403);
    });

    it('refuses every request without a secret of sufficient length', async () => {
      const { settings, ...rest } = start();
      for (const secret of ['', 'short']) {
        site.change({ ...rest, settings: { ...settings, secret } });
        expect((await open(asked({}, secret), 'of-sam')).status).toBe(403);
      }
    });
  });
});

describe('the two PHP drop-ins', () => {
  it.each(['wordpress', 'moodle'])('include a configuration that loads: %s', async (site) => {
    const file = fileURLToPath(new URL(`../../integrations/${site}/coursegate.yaml`, import.meta.url));
    const environment = { COURSEGATE_KEY: RECHECK_KEY, COURSEGATE_ADMIN_SECRET: COMMAND_SECRET };
    expect((await loadConfig({ file, environment })).config.upstreams).toHaveProperty([site]);
  });

  const shared = (file: string) =>
    /\/\/ >>> shared\n(.*)\/\/ <<< shared\n/s.exec(
      readFileSync(fileURLToPath(new URL(`../../integrations/${file}`, import.meta.url)), 'utf8'),
    )?.[1];

  it('share the same protocol code', () => {
    const one = shared('wordpress/coursegate.php');
    expect(one?.length).toBeGreaterThan(2000);
    expect(shared('moodle/coursegate/classes/protocol.php')).toBe(one);
  });
});
