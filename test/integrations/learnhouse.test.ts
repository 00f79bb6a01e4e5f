import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { init } from '../../src/operator/setup/init/init.ts';
import { type App, authorizationRequest, bearer, redeem, refresh, registerApp } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { type Command, runCommand } from '../support/command.ts';
import { offeredScopes } from '../support/member.ts';
import { freePort } from '../support/world.ts';
import {
  createSchool,
  type LearnHouseCourse,
  type LearnHouseMember,
  learnHouse,
  type School,
} from './learnhouse-site.ts';

const LONGEST = 240_000;
const TITLES = ['Bäume & „Blumen“ – O’Neill', 'Knots &amp; ropes', 'Árvores'];
const QUERY = `{ viewer { id email name enrolledCourses(first: 10) { totalCount nodes {
  slug title expireDate hasLifetimeAccess progressPercent lastWatchedLecture { lectureId positionSeconds } } } } }`;

const running = learnHouse();

/** LearnHouse is skipped unless COURSEGATE_TEST_LEARNHOUSE names a file as learnhouse-site.ts describes. */
describe.skipIf(running === undefined)('LearnHouse, with what init writes and nothing else', () => {
  const dir = mkdtempSync(join(tmpdir(), 'coursegate-learnhouse-'));
  let school: School;
  let sam: LearnHouseMember;
  let olu: LearnHouseMember;
  let courses: readonly LearnHouseCourse[];
  let gate: Command;
  let origin: string;
  let app: App;

  beforeAll(async () => {
    if (running === undefined) return;
    school = await createSchool(running);
    sam = await school.addMember('Sam');
    olu = await school.addMember('Olu');
    courses = await Promise.all(TITLES.map((title, at) => school.addCourse(title, at === 2 ? 0 : 3)));
    for (const course of courses) await school.enrol(sam, course);
    const [first] = courses;
    if (first === undefined) throw new Error('There is no course.');
    // Not in the order of their numbers: the activity completed last is not the last one.
    for (const at of [2, 0]) await school.complete(sam, first.activities[at] ?? { uuid: '' });

    const [port, adminPort] = [await freePort(), await freePort()];
    origin = `http://localhost:${port}`;
    await init({
      upstream: running.url,
      origin,
      port,
      adminPort,
      dir,
      force: false,
      site: false,
      observe: false,
      tell: () => undefined,
      agree: async () => true,
    });
    gate = runCommand(['serve', '--config', join(dir, 'coursegate.yaml')], {
      LEARNHOUSE_TOKEN: school.token,
      LEARNHOUSE_DATABASE: running.database,
    });
    await gate.line(/^coursegate ready/);
    app = await registerApp(origin);
  }, LONGEST);
  afterAll(async () => {
    gate?.signal('SIGTERM');
    await gate?.exited;
    rmSync(dir, { recursive: true, force: true });
  });

  const connect = async (member: LearnHouseMember) => {
    const request = await authorizationRequest(app);
    const browser = createBrowser();
    const { email: username, password } = member;
    const consent = await browser.submit(await browser.open(request.url), { username, password });
    expect(consent.text).toContain('id="consent"');
    const fields = { decision: 'approve', scope: offeredScopes(consent) };
    const last = await browser.submit(consent, fields, (location) => !location.startsWith(app.redirectUri));
    return redeem(app, request, new URL(last.location ?? ''));
  };
  const get = async (path: string, token: string) => {
    const response = await fetch(origin + path, { headers: bearer(token) });
    return [response.status, await response.json().catch(() => undefined)] as const;
  };
  const ask = (token: string) =>
    fetch(`${origin}/account/graphql`, {
      method: 'POST',
      headers: { ...bearer(token), 'content-type': 'application/json' },
      body: JSON.stringify({ query: QUERY }),
    });
  const viewer = async (token: string) =>
    (await (await ask(token)).json()) as { data: { viewer: unknown }; errors?: unknown };

  it('gives each member their own courses, with titles, progress and the activity completed last', {
    timeout: LONGEST,
  }, async () => {
    const [first, second, third] = courses;
    const slug = (course: LearnHouseCourse | undefined) => course?.uuid.replace('course_', '');
    const forever = { expireDate: null, hasLifetimeAccess: true };
    const { access_token: token } = await connect(sam);
    expect(await viewer(token)).toEqual({
      data: {
        viewer: {
          id: String(sam.id),
          email: sam.email,
          name: 'Sam O’Neill',
          enrolledCourses: {
            totalCount: 3,
            nodes: expect.arrayContaining([
              {
                ...forever,
                slug: slug(first),
                title: TITLES[0],
                progressPercent: expect.closeTo(66.67, 1),
                lastWatchedLecture: { lectureId: String(first?.activities[0]?.id), positionSeconds: 0 },
              },
              { ...forever, slug: slug(second), title: TITLES[1], progressPercent: 0, lastWatchedLecture: null },
              { ...forever, slug: slug(third), title: TITLES[2], progressPercent: null, lastWatchedLecture: null },
            ]),
          },
        },
      },
    });
    const other = await viewer((await connect(olu)).access_token);
    expect(other.errors).toBeUndefined();
    expect(other.data.viewer).toMatchObject({
      id: String(olu.id),
      email: olu.email,
      enrolledCourses: { totalCount: 0, nodes: [] },
    });
  });

  it('gives apps only the member’s own records by route, and nothing without a token', {
    timeout: LONGEST,
  }, async () => {
    const { access_token: token } = await connect(sam);
    const [, trail] = await get('/api/site/trail', token);
    expect((trail as { user_id: number }).user_id).toBe(sam.id);
    expect(await get('/api/site/profile', token)).toEqual([200, expect.objectContaining({ email: sam.email })]);
    expect((await get(`/api/site/courses/${courses[0]?.uuid}`, token))[0]).toBe(200);
    expect((await fetch(`${origin}/api/site/trail`)).status).toBe(401);
    // LearnHouse's own API is not served by the gate, so neither is anybody else's record.
    expect((await get(`/api/v1/admin/default/enrollments/${olu.id}`, token))[0]).toBe(404);
  });

  it('ends access when the member changes their password, and when they leave', { timeout: LONGEST }, async () => {
    const member = await school.addMember('Kim');
    const { refresh_token: kept } = await connect(member);
    const next = await refresh(app, kept ?? '');
    expect(next.access_token).toBeDefined();
    const changed = { ...member, password: `${member.password}2` };
    await school.changePassword(member, changed.password);
    await expect(refresh(app, next.refresh_token ?? '')).rejects.toThrow();
    expect((await ask(next.access_token)).status).toBe(401);

    const again = await connect(changed);
    await school.leave(member);
    await expect(refresh(app, again.refresh_token ?? '')).rejects.toThrow();
  });
});
