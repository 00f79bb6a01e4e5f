import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LoadedConfig, loadConfig } from '../../../src/config/load.ts';
import { examineBackend } from '../../../src/operator/doctor/backend/backend-doctor.ts';
import { createBrowser } from '../../support/browser.ts';
import { type Answered, type Fault, type FaultProxy, startFaultProxy } from '../../support/fault-proxy.ts';
import { approve, reachConsent } from '../../support/member.ts';
import { startWorld, type World } from '../../support/world.ts';

const CONFIG = fileURLToPath(new URL('../../../config/coursegate.yaml', import.meta.url));

/** The operator, who signs in and approves if the pages let them, and whose browser then goes where it is sent. */
const operator = async (address: string): Promise<void> => {
  const redirectUri = new URL(address).searchParams.get('redirect_uri') ?? '';
  const { browser, page } = await reachConsent(address);
  if (!page.text.includes('<main id="consent"')) return;
  const back = await approve(page.url, redirectUri, { browser });
  await createBrowser().open(back.href);
};

const json = (body: unknown): Answered => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  body: JSON.stringify(body),
});

/** Changes the JSON of the responses at a path, for members who are signed in. */
const changing = (path: string, change: (body: unknown) => unknown): Fault => ({
  fromGate: (answered, { url }) => {
    if (url.pathname !== path || answered.status !== 200) return;
    answered.body = JSON.stringify(change(JSON.parse(answered.body)));
  },
});

describe('the doctor, signed in as a member', () => {
  let proxy: FaultProxy;
  let world: World;
  let loaded: LoadedConfig;
  let overrides: Readonly<Record<string, object>>;
  beforeAll(async () => {
    proxy = await startFaultProxy();
    overrides = {
      login: { whoami: { anonymous: { absent: true } } },
      upstreams: { school: { url: proxy.origin } },
      limits: { address: 'unlimited', member: 'unlimited', client: 'unlimited', attempts: 'unlimited' },
    };
    world = await startWorld({ profile: 'A', overrides });
    proxy.target = world.school.urls.school;
    loaded = await loadConfig({
      file: CONFIG,
      environment: { COURSEGATE_PROFILE: 'A', PORT: new URL(world.origin).port, COURSEGATE_DATA: world.data },
      overrides,
    });
  });
  afterAll(async () => {
    await world?.close();
    await proxy.close();
  });

  const printed: string[] = [];
  const examine = async (fault: Fault = {}, timeout = 10) => {
    proxy.fault = fault;
    const admin = {
      address: world.admin,
      ask: async (path: string) => {
        const response = await fetch(world.admin + path);
        return { status: response.status, text: await response.text() };
      },
      command: () => Promise.reject(new Error('there is no secret')),
    };
    const open = (address: string) => operator(address).catch(() => undefined);
    const signIn = { print: (line: string) => void printed.push(line), open, timeout };
    return examineBackend({ loaded, admin, only: ['member'], signIn });
  };
  const problems = async (fault: Fault, timeout?: number) =>
    (await examine(fault, timeout)).findings
      .filter(({ level }) => level === 'warning' || level === 'failure')
      .map(({ check, seen, fix }) => ({ check, seen, fix }));

  it('finds nothing wrong with the demo, and leaves nothing behind', async () => {
    const report = await examine();
    expect(report.findings.map(({ check, level, seen }) => `${check} ${level}: ${seen}`)).toEqual([
      'member.return pass: signed in, approved, and came back',
      expect.stringMatching(/^member\.identity pass: you are m-1001, Sam Student, student@example\.com/),
      'member.account pass: no field has an error',
      expect.stringMatching(/^member\.routes pass: \d+ answer$/),
      expect.stringMatching(/^member\.tools pass: \d+ answer$/),
    ]);
    expect(report.leftBehind).toEqual([]);
    expect(printed).toContainEqual(expect.stringMatching(/^Sign in and approve here:/));
  });

  it.each([
    [
      'a wrong pointer with absent: true',
      changing('/api/me', (me) => ({ ...Object(me), uid: Object(me).id, id: undefined })),
      /counted \d+ returns from the sign-in page without a session/,
      /login\.whoami does not find the ID/,
    ],
    [
      'a whoami that answers a list',
      changing('/api/me', (me) => [{ id: 'm-1' }, me]),
      /whoami gave \d+ answers that cannot be used/,
      /A list of members is no answer/,
    ],
    [
      'a sign-in page that does not lead back',
      {
        toGate: ({ url }) => {
          url.searchParams.delete('return_to');
          return undefined;
        },
      } satisfies Fault,
      /^The browser did not come back from the site within 3 seconds/,
      /^Look where the browser is\. On a page of your site: login\.returnParam/,
    ],
  ])('finds %s', async (_, fault, seen, fix) => {
    const found = await problems(fault, 3);
    expect(found).toEqual([
      { check: 'member.return', seen: expect.stringMatching(seen), fix: expect.stringMatching(fix) },
    ]);
  });

  it('finds a mapping whose key the backend does not have, and names the field', async () => {
    const found = await problems({
      fromGate: (answered) => {
        answered.body = answered.body.replaceAll('"slug"', '"uid"');
      },
    });
    // The tools that ask for courses fail with it.
    expect(found).toContainEqual({
      check: 'member.account',
      seen: expect.stringMatching(/^viewer\.enrolledCourses\.nodes\.slug: /),
      fix: expect.stringMatching(/mapping/),
    });
    expect(found.map(({ check }) => check)).not.toContain('member.routes');
  });

  it('finds a route that leads to a path that is missing, and the tool that reads it', async () => {
    const found = await problems({
      toGate: ({ url }) => (url.pathname === '/api/v1/whoami' ? { ...json({}), status: 404 } : undefined),
    });
    expect(found).toEqual([
      { check: 'member.routes', seen: 'GET /api/v1/whoami answers 404', fix: expect.stringMatching(/rewrite/) },
      { check: 'member.tools', seen: expect.stringMatching(/^get_my_account: /), fix: expect.any(String) },
    ]);
  });

  it('finds a misspelt cookie name', async () => {
    await world.restart({ ...overrides, login: { ...overrides.login, cookies: ['schol_session'] } });
    expect(await problems({}, 3)).toEqual([
      {
        check: 'member.return',
        seen: expect.stringMatching(/counted \d+ returns from the sign-in page without a session/),
        fix: expect.stringMatching(/^The session cookie has another name/),
      },
    ]);
  });
});
