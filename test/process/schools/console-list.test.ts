import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signLink } from '../../../src/operator/console/link.ts';
import { ask, openConsole } from '../../operator/console/support/console.ts';
import { createAuthority } from '../../support/certificates.ts';
import { redisPresent, startRedis } from '../../support/redis.ts';
import { type Schools, startSchools } from '../../support/schools.ts';

const environment = {
  OPERATOR: 'operator-of-the-process-0123456789ab',
  NEXT: 'next-operator-of-the-process-0123456',
  OWN: 'operator-of-school-one-0123456789ab',
};
const { OPERATOR, OWN } = environment;
const NOWHERE = [{ match: 'GET /x', upstream: 'nowhere' }];
const many = Object.fromEntries(
  Array.from({ length: 60 }, (_, at) => `s-${String(at + 1).padStart(2, '0')}`).map((name) => [
    name,
    { profile: 'B', origin: `https://${name}.example`, account: { enabled: false } },
  ]),
);
const PATIENCE = { timeout: 30_000, interval: 50 };

let schools: Schools;
beforeAll(async () => {
  schools = await startSchools({
    schools: {
      ...many,
      bad: 'no: [yaml',
      one: { profile: 'A', origin: 'https://one.example', admin: { hmac: { secret: { env: 'OWN' } } } },
      // Its address is that of the school before.
      other: { profile: 'A', origin: 'https://one.example' },
      three: { profile: 'A', origin: 'https://three.example', name: 'Three' },
    },
    main: { admin: { hmac: { secret: { env: 'OPERATOR' } } } },
    environment,
  });
});
afterAll(() => schools.close());

const states = async () => {
  const { schools: all } = (await (await fetch(`${schools.admin}/schools`)).json()) as {
    schools: { name: string; state: string }[];
  };
  return new Map(all.map(({ name, state }) => [name, state]));
};
/** What each row says, without markup. */
const rowsOf = (page: string) =>
  [...page.matchAll(/<tr><th scope="row"[\s\S]*?<\/tr>/g)].map(([row]) =>
    row
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  );

describe('the console of a process with many schools', () => {
  it('is for the operators of the process alone', async () => {
    expect((await ask(schools.admin, '/', { headers: { accept: 'text/html' } })).location).toBe('/console');
    expect((await ask(schools.admin, '/console')).location).toBe('/console/sign-in');
    expect((await ask(schools.admin, '/console/schools/one')).location).toMatch(/^\/console\/sign-in\?to=/);
    const enter = (form: Record<string, string>) => ask(schools.admin, '/console/sign-in', { method: 'POST', form });
    const now = Math.floor(Date.now() / 1000);
    const links = [signLink(OWN, now), signLink(OWN, now, '/schools/one'), signLink(OPERATOR, now, '/schools/one')];
    for (const form of [{ secret: OWN }, ...links.map((link) => ({ link }))])
      expect((await enter(form)).status).toBe(401);
    expect((await enter({ link: signLink(OPERATOR, now) })).location).toBe('/console');
  });

  it('lists all schools with their mistakes, and opens none of them', async () => {
    const session = await openConsole(schools, OPERATOR);
    // Files are checked in the background.
    await expect.poll(async () => (await states()).get('bad'), PATIENCE).toBe('refused');
    const first = (await session.get('/console')).text;
    expect(first).toContain('64 schools, of which 50 are shown here');
    expect(first).toMatch(
      /<dt>Store<\/dt><dd>SQLite, of this gate alone <span class="badge good">working<\/span><\/dd>/,
    );
    expect(first).toMatch(/<dt>Schools<\/dt><dd>63 idle, 1 refused<\/dd>/);
    const rows = rowsOf(first);
    expect(rows.slice(0, 3)).toEqual([
      expect.stringMatching(/^bad refused schools\/bad\.yaml:1:\d+ .* It is not served\.$/),
      'other https://one.example idle one.example is an address of the school &quot;one&quot; already',
      'one https://one.example idle',
    ]);
    const next = /href="([^"]+)" rel="next"/.exec(first)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = (await session.get(next)).text;
    expect(rowsOf(second)).toHaveLength(14);
    expect(new Set([...rows, ...rowsOf(second)]).size).toBe(64);
    expect(rowsOf((await session.get('/console?q=S-4')).text)).toHaveLength(10);
    expect(rowsOf((await session.get('/console?q=three.ex')).text)).toEqual(['three https://three.example idle']);
    expect(rowsOf((await session.get('/console?state=problems')).text)).toHaveLength(2);
    expect(rowsOf((await session.get('/console?sort=-name')).text)[0]).toContain('three');
    expect((await session.get('/console?state=other')).status).toBe(400);
    expect((await session.get('/console?q=nothing')).text).toContain('No schools match.');
    expect([...(await states()).values()].filter((state) => state === 'open')).toEqual([]);
  });

  it('leads to the console of a school, which signs in on its own', async () => {
    const session = await openConsole(schools, OPERATOR);
    expect((await session.get('/console?q=three')).text).toContain('href="/console/schools/three"');
    const led = await session.get('/console/schools/three');
    expect([led.status, led.location]).toEqual([
      303,
      expect.stringMatching(/^\/schools\/three\/console\/sign-in\?link=/),
    ]);
    // The session of the process is none of the school.
    const { cookie } = session;
    expect((await ask(schools.admin, '/schools/three/console', { headers: { cookie } })).status).toBe(303);
    expect((await ask(schools.admin, led.location ?? '')).text).toContain(
      '<title>Open the console · Three console</title>',
    );
    const form = { link: new URL(led.location ?? '', schools.admin).searchParams.get('link') ?? '' };
    const entered = await ask(schools.admin, '/schools/three/console/sign-in', { method: 'POST', form });
    const own = { cookie: entered.cookies[0]?.split(';')[0] ?? '' };
    expect((await ask(schools.admin, '/schools/three/console', { headers: own })).status).toBe(200);
    // And the session of the school none of the process.
    expect((await ask(schools.admin, '/console', { headers: own })).status).toBe(303);
    expect(rowsOf((await session.get('/console?state=open')).text)).toEqual(['three https://three.example open']);
    for (const name of ['bad', 'none', 'one%2Fkeys']) {
      const { status, text } = await session.get(`/console/schools/${name}`);
      expect([name, status, text.includes('No school of this name is served.')]).toEqual([name, 404, true]);
    }
    expect((await session.get('/console')).text).not.toContain('href="/console/schools/bad"');
  });

  it('says what of a school is refused while its last valid configuration is served, and what does not answer', async () => {
    const session = await openConsole(schools, OPERATOR);
    const down = { school: { url: 'http://127.0.0.1:9' } };
    const constants = { profile: 'A', origin: 'https://three.example', upstreams: down };
    schools.write('three', constants);
    await schools.reload();
    for (let times = 0; times < 20; times += 1) await fetch('https://three.example/');
    const row = async () => rowsOf((await session.get('/console?q=three')).text)[0];
    expect(await row()).toBe('three https://three.example open upstream school does not answer');
    schools.write('three', { ...constants, routes: NOWHERE });
    await schools.reload();
    expect(await row()).toMatch(
      /^three https:\/\/three\.example refused schools\/three\.yaml:1:\d+ routes\[0\]\.upstream: .* Its last valid configuration is still served\.$/,
    );
    expect((await session.get('/console/schools/three')).status).toBe(303);
  });

  it('is closed to operators that the main file no longer names', async () => {
    const session = await openConsole(schools, OPERATOR);
    schools.writeMain({ admin: { hmac: { secret: { env: 'NEXT' } } } });
    await schools.reload();
    expect((await session.get('/console')).status).toBe(303);
    await openConsole(schools, environment.NEXT);
  });
});

it('a client certificate opens the list and the console of each school, without a link', async () => {
  const [own, operators] = [createAuthority(), createAuthority()];
  const { certFile, keyFile } = own.issue('localhost');
  const mtls = { cert: certFile, key: keyFile, clientCa: operators.caFile };
  const served = await startSchools({
    schools: { one: { profile: 'A', origin: 'https://one.example', name: 'One' } },
    main: { admin: { mtls } },
  });
  const admin = served.admin.replace('http://127.0.0.1', 'https://localhost');
  const issued = operators.issue('ops.example');
  const certificate = { cert: issued.cert, key: issued.key };
  const show = (path: string, shown = {}) => ask(admin, path, { ca: own.ca, ...shown });
  expect((await show('/console')).location).toBe('/console/sign-in');
  const list = await show('/console', certificate);
  expect([list.status, rowsOf(list.text)]).toEqual([200, ['one https://one.example idle']]);
  expect((await show('/console/schools/one', certificate)).location).toBe('/schools/one/console');
  const opened = await show('/schools/one/console', certificate);
  expect([opened.status, opened.text.includes('<title>Overview · One console</title>')]).toEqual([200, true]);
  expect(opened.cookies[0]).toContain('; Path=/schools/one/console; HttpOnly; SameSite=Strict; Secure');
  await served.close();
  for (const authority of [own, operators]) authority.close();
});

it.skipIf(!redisPresent())(
  'can be read while the store is down, and says so',
  async () => {
    const redis = await startRedis();
    const served = await startSchools({
      schools: { one: { profile: 'A', origin: 'https://one.example' } },
      main: {
        admin: { hmac: { secret: { env: 'OPERATOR' } } },
        secret: { env: 'STORE' },
        store: { kind: 'redis', url: { env: 'REDIS_URL' } },
      },
      environment: { ...environment, STORE: 's'.repeat(32), REDIS_URL: redis.url },
    });
    const session = await openConsole(served, OPERATOR);
    expect((await session.get('/console')).text).toContain('Redis, shared by all replicas <span class="badge good">');
    await redis.close();
    // The check is repeated after a second.
    await expect
      .poll(async () => (await session.get('/console')).text, PATIENCE)
      .toContain('the store cannot be used; the log says why <span class="badge bad">failing</span>');
    expect(rowsOf((await session.get('/console')).text)).toEqual(['one https://one.example idle']);
    await served.close();
  },
  60_000,
);
