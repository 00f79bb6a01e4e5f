import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/operations/log.ts';
import { signLink } from '../../../src/operator/console/link.ts';
import { createAuthority } from '../../support/certificates.ts';
import { COMMAND_SECRET } from '../../support/commands.ts';
import type { World } from '../../support/world.ts';
import { type Asking, ask, openConsole, startConsoleWorld } from './support/console.ts';

const MINUTE = 60_000;

let now = Date.parse('2026-11-23T08:00:00Z');
const folder = mkdtempSync(join(tmpdir(), 'coursegate-console-'));
let read = 0;
/** The audit lines of the console since the last call. */
const audited = () => {
  const lines = readFileSync(join(folder, 'log'), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const since = lines.slice(read).map((line) => JSON.parse(line));
  read = lines.length;
  return since
    .filter((line) => /operator_signed|command_refused/.test(line['event.action']))
    .map((line) => [line['event.action'], line['event.reason'], line['coursegate.by'], line['source.ip']]);
};

let world: World;
beforeAll(async () => {
  const log = createLog('info', openSync(join(folder, 'log'), 'w'));
  world = await startConsoleWorld({ clock: () => now, log });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

const signIn = (form: Record<string, string>, asking: Asking = {}) =>
  ask(world.admin, '/console/sign-in', { method: 'POST', form, ...asking });

describe('the console', () => {
  it('shows nothing without a session', async () => {
    for (const path of ['/console', '/console/apps?q=x', '/console/nowhere', '/console/', '/console/sign-in/x']) {
      const { status, location, text } = await ask(world.admin, path);
      expect([path, status, location?.split('?')[0], text]).toEqual([path, 303, '/console/sign-in', '']);
    }
    // There is nothing to lead back to.
    for (const path of ['/console', `/console/apps?q=${'x'.repeat(1024)}`])
      expect((await ask(world.admin, path)).location).toBe('/console/sign-in');
    for (const path of ['/console', '/console/keys', '/console/sign-out']) {
      const { status, text } = await ask(world.admin, path, { method: 'POST', form: {} });
      expect([path, status]).toEqual([path, 401]);
      expect(text).toContain('Your session has ended.');
      expect(text).toContain('<a href="/console/sign-in">Sign in</a>');
      expect(text).not.toContain('Back to the overview');
    }
    const { status, headers } = await ask(world.admin, '/console', { method: 'DELETE' });
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD, POST']);
  });

  it('opens with the admin secret, leads back to the page that was asked for, and closes', async () => {
    const asked = await ask(world.admin, '/console/members?q=m-1');
    const form = await ask(world.admin, asked.location ?? '');
    expect(form.text).toContain('name="to" value="/console/members?q=m-1"');
    expect(form.text).not.toMatch(/coursegate \d/);
    audited();
    expect((await signIn({ secret: COMMAND_SECRET, to: '/console/members?q=m-1' })).location).toBe(
      '/console/members?q=m-1',
    );
    const session = await openConsole(world);
    expect(audited()).toEqual(Array(2).fill(['operator_signed_in', 'secret', 'operator', '127.0.0.1']));
    const page = await session.get('/console');
    expect(page.status).toBe(200);
    expect(page.text).toContain('<h1>Overview</h1>');
    expect(page.text).toContain('Signed in with the admin secret');
    const [, navigation = ''] = /<nav[^>]*>(.*?)<\/nav>/s.exec(page.text) ?? [];
    expect([...navigation.matchAll(/<a [^>]*>([^<]*)/g)].map(([, entry]) => entry)).toEqual([
      ...['Overview', 'Connections', 'History', 'Apps', 'Members', 'Grants', 'Traffic', 'Keys', 'Events'],
      'Observe mode',
    ]);
    const nowhere = await session.get('/console/nowhere');
    expect([nowhere.status, nowhere.text.includes('The console has no page at this address.')]).toEqual([404, true]);
    expect(nowhere.text).toContain('<a href="/console">Back to the overview</a>');
    expect((await session.get('/console/sign-in?to=/console/keys')).location).toBe('/console/keys');

    expect((await session.post('/console/sign-out')).text).toContain('<h1>Signed out</h1>');
    expect(audited()).toEqual([['operator_signed_out', undefined, 'operator', '127.0.0.1']]);
    expect((await session.get('/console')).status).toBe(303);
  });

  it('leads only to its own pages after the sign-in', async () => {
    for (const to of ['https://evil.example', '//evil.example', '/livez', '/consoles', '/console\\@evil.example/']) {
      expect((await signIn({ secret: COMMAND_SECRET, to })).location).toBe('/console');
    }
    const wrong = await signIn({ secret: 'x', to: '/console/keys' });
    expect(wrong.text).toContain('name="to" value="/console/keys"');
  });

  it('sets a cookie for itself alone, and pages that load nothing from elsewhere', async () => {
    const { cookies } = await signIn({ secret: COMMAND_SECRET });
    expect(cookies[0]).toMatch(
      /^coursegate_console_[0-9a-f]{8}=[\w.-]+; Max-Age=1800; Path=\/console; HttpOnly; SameSite=Strict$/,
    );
    const { headers, text } = await (await openConsole(world)).get('/console');
    expect(headers).toMatchObject({
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    expect(text).not.toMatch(/<script|style=|javascript:|https?:\/\/(?!127\.0\.0\.1)/);
  });

  it('ends a session after half an hour without a request, and after eight hours', async () => {
    const session = await openConsole(world);
    now += 29 * MINUTE;
    const { cookies } = await session.get('/console');
    const extended = cookies[0]?.split(';')[0] ?? '';
    now += 2 * MINUTE;
    expect((await session.get('/console')).status).toBe(303);
    expect((await ask(world.admin, '/console', { headers: { cookie: extended } })).status).toBe(200);

    let { cookie } = await openConsole(world);
    for (let minutes = 0; minutes < 8 * 60; minutes += 20) {
      const page = await ask(world.admin, '/console', { headers: { cookie } });
      expect([minutes, page.status]).toEqual([minutes, 200]);
      if (minutes === 460) expect(page.cookies[0]).toContain('; Max-Age=1200;');
      cookie = page.cookies[0]?.split(';')[0] ?? cookie;
      now += 20 * MINUTE;
    }
    expect((await ask(world.admin, '/console', { headers: { cookie } })).status).toBe(303);
  });

  it('refuses a wrong secret, reports it, and stops giving reasons after thirty a minute', async () => {
    now += 2 * MINUTE;
    audited();
    for (const secret of ['', 'x', `${COMMAND_SECRET} `, COMMAND_SECRET.slice(1)]) {
      const { status, text, cookies } = await signIn({ secret });
      expect([secret, status, cookies]).toEqual([secret, 401, []]);
      expect(text).toContain('That is not the admin secret.');
      expect(text).not.toContain(COMMAND_SECRET.slice(1));
    }
    expect(audited()).toEqual(Array(4).fill(['command_refused', 'wrong console secret', undefined, '127.0.0.1']));
    for (let tries = 4; tries < 30; tries += 1) await signIn({ secret: 'x' });
    const { status, headers } = await signIn({ secret: 'x' });
    expect(status).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect((await signIn({ secret: COMMAND_SECRET })).status).toBe(303);
    now += 2 * MINUTE;
  });

  it('takes no secret that crosses the network in clear', async () => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
    if (outside === undefined) return;
    const open = await startConsoleWorld({ overrides: { ...HMAC, listen: { admin: { host: '0.0.0.0', port: 0 } } } });
    const admin = open.admin.replace('127.0.0.1', outside);
    expect((await ask(admin, '/console/sign-in')).text).not.toContain('type="password"');
    const { status } = await ask(admin, '/console/sign-in', { method: 'POST', form: { secret: COMMAND_SECRET } });
    expect(status).toBe(403);
    const link = signLink(COMMAND_SECRET, Math.floor(Date.now() / 1000));
    expect((await ask(admin, '/console/sign-in', { method: 'POST', form: { link } })).status).toBe(303);
    await open.close();
  });
});

const HMAC = { admin: { hmac: { secret: { env: 'COMMAND_SECRET' } } } };

describe('a link of coursegate console', () => {
  const link = (secret = COMMAND_SECRET, seconds = 0) => signLink(secret, Math.floor(now / 1000) + seconds);

  it('opens one session, with a click', async () => {
    const one = link();
    for (let times = 0; times < 2; times += 1) {
      const { status, text, cookies } = await ask(world.admin, `/console/sign-in?link=${one}`);
      expect([status, cookies]).toEqual([200, []]);
      expect(text).toContain(`name="link" value="${one}"`);
    }
    audited();
    const opened = await signIn({ link: one });
    expect([opened.status, opened.location, opened.cookies.length]).toEqual([303, '/console', 1]);
    expect(audited()).toEqual([['operator_signed_in', 'link', 'operator', '127.0.0.1']]);
    const again = await signIn({ link: one });
    expect([again.status, again.cookies]).toEqual([401, []]);
    expect(again.text).toContain('already used');
    expect(audited()).toEqual([['command_refused', 'wrong console link', undefined, '127.0.0.1']]);
  });

  it('is used up for as long as it is valid, by a clock that is a minute ahead', async () => {
    const ahead = link(COMMAND_SECRET, 60);
    expect((await signIn({ link: ahead })).status).toBe(303);
    now += 2 * MINUTE;
    expect((await ask(world.admin, `/console/sign-in?link=${ahead}`)).status).toBe(200);
    expect((await signIn({ link: ahead })).status).toBe(401);
  });

  it('is also used up at other replicas and after a restart', async () => {
    const one = link();
    expect((await signIn({ link: one })).status).toBe(303);
    await world.restart();
    expect((await signIn({ link: one })).status).toBe(401);
  });

  it.each([
    ['is older than a minute', () => link(COMMAND_SECRET, -61)],
    ['is from a minute ahead', () => link(COMMAND_SECRET, 61)],
    ['is signed with another secret', () => link('another-secret-of-more-than-32-characters')],
    ['was changed', () => link().replace(/.$/, (last) => (last === '0' ? '1' : '0'))],
    ['is none', () => 'x'],
    ['is a command’s signature', () => 't=1,n=2,v1=3'],
  ])('is refused when it %s', async (_why, make) => {
    const shown = await ask(world.admin, `/console/sign-in?${new URLSearchParams({ link: make() })}`);
    expect([shown.status, shown.text.includes('name="link"')]).toEqual([401, false]);
    expect((await signIn({ link: make() })).status).toBe(401);
  });
});

describe('a client certificate', () => {
  const [own, operators, strangers] = [createAuthority(), createAuthority(), createAuthority()];
  afterAll(() => [own, operators, strangers].map((authority) => authority.close()));

  it('opens a session that belongs to it alone', async () => {
    const { certFile, keyFile } = own.issue('localhost');
    const tls = await startConsoleWorld({
      overrides: {
        admin: {
          mtls: { cert: certFile, key: keyFile, clientCa: operators.caFile, names: ['ops.example', 'ann.example'] },
        },
      },
    });
    const admin = tls.admin.replace('http://127.0.0.1', 'https://localhost');
    const show = (certificate: { cert: string; key: string } | undefined, cookie?: string) =>
      ask(admin, '/console', {
        ca: own.ca,
        ...(certificate && { cert: certificate.cert, key: certificate.key }),
        ...(cookie && { headers: { cookie } }),
      });
    const [ops, ann, wrongName, stranger] = [
      operators.issue('ops.example'),
      operators.issue('ann.example'),
      operators.issue('else.example'),
      strangers.issue('ops.example'),
    ];
    const opened = await show(ops);
    expect(opened.status).toBe(200);
    expect(opened.text).toContain('Certificate: <bdi>CN=ops.example</bdi>');
    const [cookie = ''] = (opened.cookies[0] ?? '').split(';');
    expect(opened.cookies[0]).toContain('; Secure');

    expect((await show(ops, cookie)).cookies).toEqual([]);
    for (const other of [undefined, wrongName, stranger]) {
      expect((await show(other, cookie)).status).toBe(303);
      expect((await show(other)).status).toBe(303);
    }
    const empty = await ask(admin, '/console/sign-in', { ca: own.ca });
    expect(empty.text).toContain('Your browser shows no client certificate');
    expect(empty.text).not.toMatch(/coursegate console|type="password"/);
    // Another operator's certificate opens a session of its own, and not this one.
    const taken = await show(ann, cookie);
    expect(taken.text).toContain('CN=ann.example');
    expect(taken.cookies).toHaveLength(1);
    const form = { csrf: /name="csrf" value="([^"]+)"/.exec(opened.text)?.[1] ?? '' };
    const post = { method: 'POST', form, ca: own.ca, headers: { cookie } };
    expect((await ask(admin, '/console/sign-out', { ...post, cert: ann.cert, key: ann.key })).status).toBe(401);
    expect((await ask(admin, '/console/sign-out', { ...post, cert: ops.cert, key: ops.key })).status).toBe(200);
    await tls.close();
  });
});

it('without admin.hmac and admin.mtls, the console says how to switch it on', async () => {
  const off = await startConsoleWorld({ overrides: { admin: {} } });
  for (const path of ['/console', '/console/sign-in', '/console/keys']) {
    const { status, text } = await ask(off.admin, path);
    expect([path, status]).toEqual([path, 403]);
    expect(text).toContain('admin.hmac');
  }
  expect((await ask(off.admin, '/console/sign-in', { method: 'POST', form: { secret: '' } })).status).toBe(403);
  await off.close();
});
