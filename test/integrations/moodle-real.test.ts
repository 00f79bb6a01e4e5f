import { createHmac, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { createLog } from '../../src/operations/log.ts';
import { type Gateway, startGateway } from '../../src/process/gateway.ts';
import { type App, authorizationRequest, redeem, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { COMMAND_SECRET } from '../support/commands.ts';
import { refreshForm, type Tokens, token } from '../support/connection.ts';
import { offeredScopes } from '../support/member.ts';
import { rawRequest } from '../support/raw.ts';
import { freePort } from '../support/world.ts';
import { installPlugin, type RealMoodle, realMoodlePresent, runInMoodle, serveMoodle } from './moodle-real-site.ts';

const CONFIG = fileURLToPath(new URL('../../integrations/moodle/coursegate.yaml', import.meta.url));
const KEY = 'r'.repeat(64);
const PASSWORD = 'Harbour-1-lane!';
const QUERY = `{ viewer { id email name enrolledCourses(first: 10) { totalCount nodes { slug title url expireDate hasLifetimeAccess
  progressPercent lastWatchedLecture { lectureId positionSeconds } } } } }`;

/** Two members, the first with three courses. `run` is part of their names, since the site keeps them. */
const RUN = randomBytes(4).toString('hex');
const SAM = { username: `sam-${RUN}`, email: `sam-${RUN}@example.com`, name: 'Sam Ortiz' };
const OLU = { username: `olu-${RUN}`, email: `olu-${RUN}@example.com`, name: 'Olu Adé' };

interface Fixture {
  readonly sam: string;
  readonly olu: string;
  readonly courses: readonly string[];
  readonly modules: readonly string[];
}

/** The title of the first is as an editor of Moodle stores it. The second is in two languages, and ends. */
const FIXTURE = `
  \\core\\session\\manager::set_user(get_admin());
  set_config('enablecompletion', 1);
  filter_set_global_state('multilang', TEXTFILTER_ON); filter_set_applies_to_strings('multilang', true);
  $make = new testing_data_generator();
  $member = fn ($name, $first, $last) => $make->create_user(['username' => "$name-${RUN}", 'password' => '${PASSWORD}', 'email' => "$name-${RUN}@example.com",
    'firstname' => $first, 'lastname' => $last, 'lang' => 'de', 'timezone' => '99', 'policyagreed' => 1]);
  [$sam, $olu] = [$member('sam', 'Sam', 'Ortiz'), $member('olu', 'Olu', 'Adé')];
  $course = fn ($short, $title) => $make->create_course(['shortname' => "$short-${RUN}", 'fullname' => $title, 'enablecompletion' => 1]);
  $courses = [$course('BOT', 'Bäume &amp; „Blumen“ – O’Neill'),
    $course('KNOTS', '<span lang="en" class="multilang">Knots</span><span lang="de" class="multilang">Knoten</span>'), $course('SAILS', 'Sails & <b>ropes</b>')];
  $pages = [];
  foreach (['Roots', 'Leaves', 'Fruit'] as $name) {
    $pages[] = $make->create_module('page', ['course' => $courses[0]->id, 'name' => "$name & more", 'completion' => COMPLETION_TRACKING_MANUAL]);
  }
  foreach ($courses as $at => $one) {
    $make->enrol_user($sam->id, $one->id, 'student', 'manual', 0, $at === 1 ? 1828249200 : 0);
  }
  $make->enrol_user($olu->id, $courses[2]->id, 'student');
  (new completion_info(get_course($courses[0]->id)))->update_state(get_fast_modinfo($courses[0]->id)->cms[$pages[0]->cmid], COMPLETION_COMPLETE, $sam->id);
  echo json_encode(['sam' => $sam->id, 'olu' => $olu->id, 'courses' => array_column($courses, 'id'), 'modules' => array_column($pages, 'cmid')]);`;

describe.skipIf(!realMoodlePresent())('a real Moodle behind the gate', () => {
  let settings: Record<string, unknown>;
  let moodle: RealMoodle;
  let gate: Gateway;
  let origin: string;
  let app: App;
  let made: Fixture;

  const run = (php: string) => runInMoodle(php, settings);

  beforeAll(async () => {
    const [port, adminPort] = [await freePort(), await freePort()];
    origin = `http://localhost:${port}`;
    settings = {
      wwwroot: origin,
      timezone: 'America/New_York',
      lang: 'de',
      forced_plugin_settings: {
        local_coursegate: {
          origin,
          upstream: 'moodle',
          adminurl: `http://127.0.0.1:${adminPort}`,
          adminsecret: COMMAND_SECRET,
          key: KEY,
          functions: 'gradereport_overview_get_course_grades',
        },
      },
    };
    await installPlugin();
    made = JSON.parse(await run(FIXTURE), (_key, value) => (typeof value === 'number' ? String(value) : value));
    moodle = await serveMoodle(settings);
    const loaded = await loadConfig({
      file: CONFIG,
      environment: { COURSEGATE_KEY: KEY, COURSEGATE_ADMIN_SECRET: COMMAND_SECRET },
      overrides: {
        origin,
        listen: { port, admin: { port: adminPort } },
        store: { kind: 'memory' },
        upstreams: { moodle: { url: moodle.url } },
        login: { recheck: { interval: '0s' } },
        roles: { interval: '0s' },
        routes: [
          { match: 'GET /local/coursegate/me.php/site', role: 'coursecreator' },
          { match: 'GET /local/coursegate/me.php/{courseId}', role: '[instructor, manager]' },
        ].map(({ match, role }) => ({
          ...{ match, upstream: 'moodle', scopes: ['account:read'], anonymous: 'refuse' },
          role: role.startsWith('[') ? ['instructor of {path.courseId}', 'manager of {path.courseId}'] : role,
        })),
      },
    });
    gate = await startGateway({ loaded, log: createLog('silent', 2), clock: Date.now });
    app = await registerApp(origin);
  });
  afterAll(async () => {
    await gate?.close(1);
    await moodle?.close();
  });

  const signIn = (browser: Browser, login: Page, { username }: { username: string }) => {
    expect(new URL(login.url).pathname).toBe('/login/index.php');
    return browser.submit(login, { username, password: PASSWORD });
  };

  /** Goes through Moodle's own login and the consent page, back to the app. */
  const connect = async (member: typeof SAM, browser = createBrowser()): Promise<Tokens> => {
    const request = await authorizationRequest(app);
    const login = await browser.open(request.url);
    const consent = await signIn(browser, login, member);
    expect(consent.text).toContain(member.email);
    const last = await browser.submit(
      consent,
      { decision: 'approve', scope: offeredScopes(consent) },
      (location) => !location.startsWith(app.redirectUri),
    );
    return (await redeem(app, request, new URL(last.location ?? ''))) as unknown as Tokens;
  };

  const ask = async (accessToken: string, query = QUERY) => {
    const response = await fetch(`${origin}/account/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: an answer is judged field by field
    return { status: response.status, body: (await response.json()) as any };
  };
  const refreshed = ({ refresh_token }: Tokens) => token(app, refreshForm(app, refresh_token));

  it('returns the member’s courses, with plain titles in the member’s language, times in UTC, and the last activity', async () => {
    const browser = createBrowser();
    const [ofSam, ofOlu] = [await connect(SAM, browser), await connect(OLU)];
    for (const module of [1, 2, 1]) await browser.open(`${origin}/mod/page/view.php?id=${made.modules[module]}`);
    const { body } = await ask(ofSam.access_token);
    expect(body.errors).toBeUndefined();
    const course = (at: number) => `${origin}/course/view.php?id=${made.courses[at]}`;
    const { enrolledCourses, ...viewer } = body.data.viewer;
    expect(viewer).toEqual({ id: made.sam, email: SAM.email, name: SAM.name });
    expect(enrolledCourses.totalCount).toBe(3);
    expect(
      enrolledCourses.nodes.toSorted((a: { slug: string }, b: { slug: string }) => (a.slug < b.slug ? -1 : 1)),
    ).toEqual([
      {
        slug: `BOT-${RUN}`,
        title: 'Bäume & „Blumen“ – O’Neill',
        url: course(0),
        expireDate: null,
        hasLifetimeAccess: true,
        progressPercent: expect.closeTo(33.333, 3),
        lastWatchedLecture: { lectureId: made.modules[1], positionSeconds: 0 },
      },
      {
        slug: `KNOTS-${RUN}`,
        title: 'Knoten',
        url: course(1),
        expireDate: '2027-12-08T07:00:00Z',
        hasLifetimeAccess: false,
        progressPercent: null,
        lastWatchedLecture: null,
      },
      {
        slug: `SAILS-${RUN}`,
        title: 'Sails & ropes',
        url: course(2),
        expireDate: null,
        hasLifetimeAccess: true,
        progressPercent: null,
        lastWatchedLecture: null,
      },
    ]);
    const other = await ask(ofOlu.access_token);
    expect(other.body.data.viewer).toMatchObject({ id: made.olu, email: OLU.email });
    expect(other.body.data.viewer.enrolledCourses.nodes).toMatchObject([{ slug: `SAILS-${RUN}` }]);
    expect(JSON.stringify(other.body)).not.toMatch(new RegExp(`${SAM.email}|BOT-|KNOTS-`));
  });

  it('answers as the recorded answers say', async () => {
    const { access_token } = await connect(SAM);
    /** Without what differs from site to site. */
    const scrub = (text: string) =>
      [
        ...made.courses.map((id, at) => [`/course/view.php?id=${id}"`, `/course/view.php?id=${at + 1}"`] as const),
        ...made.courses.map((id, at) => [`"id": "${id}",\n      "slug"`, `"id": "${at + 1}",\n      "slug"`] as const),
        ...made.modules.map((id, at) => [`/mod/page/view.php?id=${id}"`, `/mod/page/view.php?id=${at + 1}"`] as const),
        ...made.modules.map(
          (id, at) => [`"id": "${id}",\n        "title"`, `"id": "${at + 1}",\n        "title"`] as const,
        ),
        [`"id": "${made.sam}"`, '"id": "42"'] as const,
        [`-${RUN}`, ''] as const,
        [origin, 'https://school.example'] as const,
      ].reduce((scrubbed, [from, to]) => scrubbed.replaceAll(from, to), text);
    for (const [tool, file] of [
      ['get_my_profile', 'me'],
      ['list_my_courses', 'courses'],
    ] as const) {
      const response = await fetch(`${origin}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${access_token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: {} } }),
      });
      const message = /\{.*\}/s.exec(await response.text())?.[0] ?? '';
      const { structuredContent } = JSON.parse(message).result;
      structuredContent.courses?.sort((a: { slug: string }, b: { slug: string }) => (a.slug < b.slug ? -1 : 1));
      const text = `${JSON.stringify(structuredContent, null, 2)}\n`;
      await expect(scrub(text)).toMatchFileSnapshot(`recorded/moodle/${file}.json`);
    }
  });

  it.each([
    ['a new password', `user_update_user(['id' => ID, 'password' => 'Another-${PASSWORD}'], true, true);`],
    ['a suspension', `user_update_user(['id' => ID, 'suspended' => 1], false, true);`],
    [
      'a site role',
      `role_assign($DB->get_field('role', 'id', ['shortname' => 'manager']), ID, context_system::instance()->id);`,
    ],
    ['its deletion', `delete_user($DB->get_record('user', ['id' => ID]));`],
  ])(
    'ends the connections of a member at once after %s, and no others',
    async (what, php) => {
      const name = `${what.split(' ')[1]}-${RUN}`;
      const id = await run(
        `echo (new testing_data_generator())->create_user(['username' => '${name}', 'email' => '${name}@example.com', 'password' => '${PASSWORD}', 'policyagreed' => 1])->id;`,
      );
      const [tokens, other] = [
        await connect({ username: name, email: `${name}@example.com`, name }),
        await connect(OLU),
      ];
      expect((await ask(tokens.access_token, '{ viewer { id } }')).body.data.viewer.id).toBe(id);
      await run(php.replaceAll('ID', id));
      expect((await ask(tokens.access_token)).status).toBe(401);
      expect((await refreshed(tokens)).body.error).toBe('invalid_grant');
      expect((await ask(other.access_token)).status).toBe(200);
    },
    180_000,
  );

  it.each([
    ['a new password', `$DB->set_field('user', 'password', hash_internal_user_password('${PASSWORD}'), ['id' => ID]);`],
    ['a suspension', `$DB->set_field('user', 'suspended', 1, ['id' => ID]);`],
    ['its deletion', `$DB->set_field('user', 'deleted', 1, ['id' => ID]);`],
  ])(
    'refuses to refresh a member’s token after %s that Moodle sent no event for',
    async (what, php) => {
      const name = `silent-${what.split(' ')[1]}-${RUN}`;
      const id = await run(
        `echo (new testing_data_generator())->create_user(['username' => '${name}', 'email' => '${name}@example.com', 'password' => '${PASSWORD}', 'policyagreed' => 1])->id;`,
      );
      const tokens = await connect({ username: name, email: `${name}@example.com`, name });
      const second = (await refreshed(tokens)).body;
      expect(second.error).toBeUndefined();
      await run(php.replaceAll('ID', id));
      expect((await refreshed(second)).body.error).toBe('invalid_grant');
      expect((await ask(second.access_token)).status).toBe(401);
    },
    180_000,
  );

  it('gives each role where it is held: at the site, in a course with an active enrolment, and below a category', async () => {
    const name = `teacher-${RUN}`;
    const { id, open, shut, hidden, far } = JSON.parse(
      await run(`\\core\\session\\manager::set_user(get_admin()); $make = new testing_data_generator();
        $above = $make->create_category(); $below = $make->create_category(['parent' => $above->id]);
        $course = fn ($in, $visible = 1) => $make->create_course(['category' => $in, 'visible' => $visible, 'shortname' => uniqid('C-')])->id;
        $user = $make->create_user(['username' => '${name}', 'email' => '${name}@example.com', 'password' => '${PASSWORD}', 'policyagreed' => 1]);
        echo json_encode(['id' => $user->id, 'above' => $above->id, 'open' => $course($below->id), 'shut' => $course($above->id),
          'hidden' => $course($below->id, 0), 'far' => $course(1)]);`),
    ) as Record<string, number>;
    const teacher = { username: name, email: `${name}@example.com`, name };
    let { access_token } = await connect(teacher);
    const where = async () => {
      const found: string[] = [];
      for (const [course, at] of Object.entries({ open, shut, hidden, far, site: 'site' })) {
        const answer = await fetch(`${origin}/local/coursegate/me.php/${at}`, {
          headers: { authorization: `Bearer ${access_token}` },
        });
        expect([200, 403]).toContain(answer.status);
        if (answer.status === 200) found.push(course);
      }
      return found;
    };
    const roleAt = (role: string, context: string, call = 'role_assign') =>
      run(`\\core\\session\\manager::set_user(get_admin());
        ${call}($DB->get_field('role', 'id', ['shortname' => '${role}']), ${id}, ${context}->id);`);
    const above = `context_coursecat::instance($DB->get_field('course_categories', 'parent', ['id' => get_course(${open})->category]))`;
    const enrolled = (course: number | undefined, php: string) =>
      run(`\\core\\session\\manager::set_user(get_admin()); $manual = enrol_get_plugin('manual');
        $one = $DB->get_record('enrol', ['courseid' => ${course}, 'enrol' => 'manual']); ${php}`);
    const enrol = (course: number | undefined, role: string) =>
      enrolled(course, `(new testing_data_generator())->enrol_user(${id}, ${course}, '${role}');`);

    expect(await where()).toEqual([]);
    await enrol(far, 'editingteacher');
    await enrol(open, 'student');
    expect(await where()).toEqual(['far']);
    // The enrolment is suspended, is over, and is taken away.
    await enrolled(far, `$manual->update_user_enrol($one, ${id}, ENROL_USER_SUSPENDED);`);
    expect(await where()).toEqual([]);
    await enrolled(far, `$manual->update_user_enrol($one, ${id}, ENROL_USER_ACTIVE, 0, 0);`);
    expect(await where()).toEqual(['far']);
    // Moodle compares with the time rounded to 100 seconds.
    await enrolled(far, `$manual->update_user_enrol($one, ${id}, ENROL_USER_ACTIVE, 0, time() - 200);`);
    expect(await where()).toEqual([]);
    await enrolled(far, `$manual->unenrol_user($one, ${id});`);
    expect(await where()).toEqual([]);
    // In a category: a teacher only where the member is enrolled, a manager everywhere below.
    await roleAt('editingteacher', above);
    expect(await where()).toEqual(['open']);
    await enrolled(open, `$manual->unenrol_user($one, ${id});`);
    expect(await where()).toEqual([]);
    await roleAt('manager', above);
    expect(await where()).toEqual(['open', 'shut', 'hidden']);
    await roleAt('manager', above, 'role_unassign');
    expect(await where()).toEqual([]);
    // A role at the site ends the connections, and the next one has it.
    await roleAt('coursecreator', 'context_system::instance()');
    expect((await ask(access_token)).status).toBe(401);
    ({ access_token } = await connect(teacher));
    expect(await where()).toEqual(['site']);
  }, 180_000);

  it('asks before it signs a member out, and takes an account that is chosen instead', async () => {
    const browser = createBrowser();
    await connect(SAM, browser);
    // The time of a sign-in is in seconds: within the same one, it would count as new.
    const signedIn = Math.floor(Date.now() / 1000);
    await vi.waitUntil(() => Math.floor(Date.now() / 1000) > signedIn, { timeout: 30_000 });
    const before = browser.cookies.get('MoodleSession')?.value;
    const request = await authorizationRequest(app, { prompt: 'login' });
    const question = await browser.open(request.url);
    expect(new URL(question.url).pathname).toBe('/local/coursegate/signin.php');
    expect(question.text).toContain(SAM.name);
    expect(browser.cookies.get('MoodleSession')?.value).toBe(before);
    const form = /<form method="post"[^>]*>[\s\S]*?<\/form>/.exec(question.text)?.[0] ?? '';
    const login = await browser.submit({ ...question, text: form }, {});
    expect((await signIn(browser, login, OLU)).text).toContain(OLU.email);
  });

  it('counts a member without the second factor as signed out, and goes on to the app after it', async () => {
    const secret = 'JBSWY3DPEHPK3PXP';
    await run(`\\core\\session\\manager::set_user(get_admin());
      set_config('enabled', 1, 'tool_mfa'); set_config('enabled', 1, 'factor_totp'); set_config('weight', 100, 'factor_totp');
      \\tool_mfa\\manager::do_factor_action('totp', 'enable');
      $DB->insert_record('tool_mfa', ['userid' => ${made.sam}, 'factor' => 'totp', 'secret' => '${secret}', 'label' => 'phone',
        'timecreated' => time(), 'createdfromip' => '127.0.0.1', 'timemodified' => time(), 'lastverified' => 0, 'revoked' => 0]);`);
    try {
      const browser = createBrowser();
      const halfway = await signIn(browser, await browser.open(`${origin}/login/index.php`), SAM);
      expect(new URL(halfway.url).pathname).toBe('/admin/tool/mfa/auth.php');
      const request = await authorizationRequest(app);
      const factor = await browser.open(request.url);
      expect(new URL(factor.url).pathname).toBe('/admin/tool/mfa/auth.php');
      const form = /<form[^>]*auth\.php[\s\S]*?<\/form>/.exec(factor.text)?.[0] ?? '';
      const consent = await browser.submit(
        { ...factor, text: form },
        { verificationcode: oneTimeCode(secret), submitbutton: '1' },
      );
      expect(consent.text).toContain(SAM.email);
      expect(offeredScopes(consent)).not.toEqual([]);
    } finally {
      await run(`set_config('enabled', 0, 'tool_mfa'); $DB->delete_records('tool_mfa', ['userid' => ${made.sam}]);`);
    }
  });

  it('answers 503, and never 401 or 404, while it cannot say who a member is', async () => {
    const whoami = '/local/coursegate/whoami.php';
    const member = `/local/coursegate/member.php?id=${made.sam}`;
    const { host } = new URL(origin);
    for (const [changed, code] of [
      [{ dbname: 'missing' }, 'dbconnectionfailed'],
      [{ maintenance_enabled: 1 }, undefined],
      [{ wwwroot: origin.replace('http:', 'https:') }, 'redirecterrordetected'],
      [{ reverseproxy: true }, 'reverseproxyabused'],
    ] as const) {
      const site = await serveMoodle({ ...settings, ...changed });
      try {
        for (const path of [whoami, member]) {
          // Moodle compares Host with its own address. fetch() would send another.
          const { status, text } = await rawRequest(site.url, { path, headers: { host, 'coursegate-key': KEY } });
          expect([path, status, JSON.parse(text).code]).toEqual([path, 503, code]);
        }
        // As with `host: upstream`.
        if (code === 'reverseproxyabused') expect((await rawRequest(site.url, { path: whoami })).status).toBe(401);
      } finally {
        await site.close();
      }
    }
  });
});

/** The current code of RFC 6238 with its defaults. */
function oneTimeCode(base32: string): string {
  const bits = [...base32].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const key = Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const digest = createHmac('sha1', key).update(step).digest();
  return String((digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
