import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signLink } from '../../../src/operator/console/link.ts';
import { ask, csrfOf } from '../../operator/console/support/console.ts';
import { registerApp } from '../../support/app.ts';
import { connect } from '../../support/connection.ts';
import { runToEnd } from '../../support/operator.ts';
import { type Schools, startSchools } from '../../support/schools.ts';

const ONE = { profile: 'A', origin: 'https://one.example', name: 'One' };
const TWO = { profile: 'A', origin: 'https://two.example', name: 'Two' };
const environment = {
  OPERATOR: 'operator-of-the-process-0123456789ab',
  OWN: 'operator-of-school-one-0123456789ab',
};
const { OPERATOR, OWN } = environment;

let schools: Schools;
beforeAll(async () => {
  schools = await startSchools({
    schools: { one: { ...ONE, admin: { hmac: { secret: { env: 'OWN' } } } }, two: TWO },
    main: { admin: { hmac: { secret: { env: 'OPERATOR' } } } },
    environment,
  });
  await connect(await registerApp(ONE.origin));
});
afterAll(() => schools.close());

const now = () => Math.floor(Date.now() / 1000);
/** Signs in below `mount`. */
const enter = (mount: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
  ask(schools.admin, `${mount}/console/sign-in`, { method: 'POST', form, headers });
const cookieOf = (answer: Awaited<ReturnType<typeof ask>>) => answer.cookies[0]?.split(';')[0] ?? '';

describe('the console of one school of many', () => {
  it('leads to its own addresses only, on every page, and each of them is there', async () => {
    const mount = '/schools/one';
    const entered = await enter(mount, { secret: OWN, to: '/console/apps' });
    expect([entered.status, entered.location]).toEqual([303, '/schools/one/console/apps']);
    expect(entered.cookies[0]).toMatch(
      /^coursegate_console_[0-9a-f]{8}=[\w.-]+; Max-Age=1800; Path=\/schools\/one\/console; HttpOnly; SameSite=Strict$/,
    );
    const cookie = cookieOf(entered);
    const waiting = ['/schools/one/console', '/schools/one/console/nowhere'];
    const forms = new Set<string>();
    const seen = new Set(waiting);
    for (let path = waiting.shift(); path !== undefined && seen.size < 200; path = waiting.shift()) {
      const { status, text } = await ask(schools.admin, path, { headers: { cookie } });
      expect([path, status]).toEqual([path, path.endsWith('nowhere') ? 404 : 200]);
      for (const [, name, address = ''] of text.matchAll(/ (href|action|src)="([^"]*)"/g)) {
        if (address.startsWith('#') || address.startsWith('https://')) continue;
        expect(address, `on ${path}`).toMatch(/^\/schools\/one\/console(?:[/?#]|$)/);
        const [to = ''] = address.replaceAll('&amp;', '&').split('#');
        if (name === 'action') forms.add(to);
        else if (!seen.has(to) && !/[?&](?:at|sort|place|span)=/.test(to)) {
          seen.add(to);
          waiting.push(to);
        }
      }
    }
    for (const path of ['console.css', 'icon.svg', 'members', 'keys/rotate', 'traffic'])
      expect(seen).toContain(`/schools/one/console/${path}`);
    expect([...seen].some((path) => path.startsWith('/schools/one/console/apps/'))).toBe(true);
    expect(forms).toContain('/schools/one/console/sign-out');
  });

  it('leads to the sign-in and back, and a browser to it from the address of the school', async () => {
    const browser = { headers: { accept: 'text/html' } };
    expect((await ask(schools.admin, '/schools/one', browser)).location).toBe('/schools/one/console');
    const asked = await ask(schools.admin, '/schools/one/console/keys');
    expect(asked.location).toBe('/schools/one/console/sign-in?to=%2Fconsole%2Fkeys');
    const { text } = await ask(schools.admin, asked.location ?? '');
    expect(text).toContain('coursegate console --config coursegate.yaml --school one</code>');
    expect(text).toContain('<form class="fields" method="post" action="/schools/one/console/sign-in">');
    const nowhere = await ask(schools.admin, '/schools/one/nowhere');
    expect([nowhere.status, nowhere.text.match(/href="[^"]*"/g)]).toEqual([
      404,
      [
        'href="/schools/one/console/console.css"',
        'href="/schools/one/console/icon.svg"',
        'href="/schools/one/console"',
      ],
    ]);
  });

  it('does what it is asked for that school alone, and ends there', async () => {
    const cookie = cookieOf(await enter('/schools/two', { secret: OPERATOR }));
    const get = (path: string) => ask(schools.admin, path, { headers: { cookie } });
    const post = (path: string, form: Record<string, string>, headers = {}) =>
      ask(schools.admin, path, { method: 'POST', form, headers: { cookie, ...headers } });
    const csrf = csrfOf((await get('/schools/two/console')).text);
    const keys = async (of: string) => (await fetch(`https://${of}.example/.well-known/jwks.json`)).text();
    const before = { one: await keys('one'), two: await keys('two') };
    const path = '/schools/two/console/keys/rotate';
    const referer = (of: string) => ({ referer: `${schools.admin}/schools/${of}/console/keys/rotate` });
    // Browsers take all schools for one origin: the page that a form is on tells them apart.
    expect((await post(path, { csrf }, referer('one'))).status).toBe(403);
    const rotated = await post(path, { csrf, now: 'yes' }, referer('two'));
    expect([rotated.status, rotated.location]).toEqual([303, '/schools/two/console/keys']);
    expect((await get('/schools/two/console/keys')).text).toContain('class="notice good"');
    expect(await keys('one')).toBe(before.one);
    expect(await keys('two')).not.toBe(before.two);
    expect((await post('/schools/two/console/sign-out', { csrf })).status).toBe(200);
    expect((await get('/schools/two/console')).status).toBe(303);
  });

  it('is opened by the operators of the process and by its own, each link once and there alone', async () => {
    for (const [secret, mount, status] of [
      [OPERATOR, '/schools/one', 303],
      [OWN, '/schools/one', 303],
      [OPERATOR, '/schools/two', 303],
      [OWN, '/schools/two', 401],
    ] as const) {
      expect([mount, (await enter(mount, { secret })).status]).toEqual([mount, status]);
      const link = signLink(secret, now(), mount);
      const elsewhere = mount === '/schools/one' ? '/schools/two' : '/schools/one';
      for (const other of [elsewhere, '']) expect((await enter(other, { link })).status, other).not.toBe(303);
      expect((await enter(mount, { link })).status).toBe(status);
      expect((await enter(mount, { link })).status).toBe(401);
    }
    // A link of the process is none of a school.
    expect((await enter('/schools/one', { link: signLink(OPERATOR, now()) })).status).toBe(401);
    // Who is signed in already need not use a link up.
    const cookie = cookieOf(await enter('/schools/one', { secret: OWN }));
    const open = (secret: string) =>
      ask(schools.admin, `/schools/one/console/sign-in?link=${signLink(secret, now(), '/schools/one')}`, {
        headers: { cookie },
      });
    expect((await open(OWN)).location).toBe('/schools/one/console');
    expect((await open(OPERATOR)).text).toContain('<h1>Open the console</h1>');
  });

  it('opens with `coursegate console --school`', async () => {
    const of = ['--config', schools.main, '--admin', schools.admin, '--no-browser'];
    const { code, stdout, stderr } = await runToEnd(['console', ...of, '--school', 'one'], environment);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/console-[0-9a-f]{20}\.localhost:\d+\/schools\/one\/console\/sign-in\?link=/),
    ]);
    expect(stderr).toContain(`${schools.admin}/schools/one/console.`);
    const { pathname, search, searchParams, host } = new URL(stdout.trim());
    expect((await ask(schools.admin, pathname + search, { headers: { host } })).status).toBe(200);
    const link = searchParams.get('link') ?? '';
    expect((await enter('/schools/two', { link })).status).toBe(401);
    expect((await enter('/schools/one', { link })).status).toBe(303);
    const unknown = await runToEnd(['console', ...of, '--school', 'none'], environment);
    expect([unknown.code, unknown.stderr]).toEqual([64, expect.stringContaining('lists no school "none".')]);
  });

  it('opens with the secret of the school, where the process has none', async () => {
    schools.writeMain({});
    const of = ['--config', schools.main, '--admin', schools.admin, '--school', 'one'];
    const ran = await runToEnd(['console', '--no-browser', ...of], environment);
    expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining('works once')]);
    expect((await runToEnd(['keys', 'list', ...of], environment)).stdout).toContain('ES256');
  });
});
