import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDirectory } from '../../src/login/directory/connector.ts';
import { parseMembers } from '../../src/login/directory/settings-members.ts';
import type { PasswordHash } from '../../src/passwords/password-hash.ts';
import { readPasswordHash } from '../../src/passwords/password-hash.ts';
import { authorizationRequest, refresh } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { type SignInWorld, startSignIn } from './support/sign-in.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The hashes of `ann's` and `bob's` at low cost: bcrypt at 5, argon2id at 8 MiB. */
const ANN = '$2y$05$VshtfdHkltNOk95REYZwL.TzpHFYMA0WtRLLfLxvy7T3jbglX33eG';
const BOB = '$argon2id$v=19$m=8192,t=1,p=1$dVhwd2wxdHBHWkpTL3RUNw$9VsL7VzeeFHBIeVIze6cC74DOnCHpPct8dd+GNlbESM';

const member = (fields: Record<string, unknown>) => `  - ${JSON.stringify(fields)}\n`;
const file = (...members: readonly Record<string, unknown>[]) => `members:\n${members.map(member).join('')}`;
const ann = {
  id: 7,
  login: ['ann', 'Ann.Lee'],
  email: 'ann@school.test',
  emailVerified: false,
  name: 'Ann Lee',
  password: ANN,
};
const bob = { id: 'bob-2', email: 'Bob@School.test', password: BOB };

const folder = mkdtempSync(join(tmpdir(), 'coursegate-directory-'));
const path = join(folder, 'members.yaml');
/** Replaces the file atomically, as editors and deployments do. */
const write = (text: string, changed = new Date()) => {
  writeFileSync(`${path}.new`, text);
  utimesSync(`${path}.new`, changed, changed);
  renameSync(`${path}.new`, path);
};

let gate: SignInWorld;
beforeAll(async () => {
  write(file(ann, bob));
  const attempts = { address: 'unlimited' };
  gate = await startSignIn({ kind: 'directory', file: path, attempts });
});
afterAll(async () => {
  await gate.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => write(file(ann, bob)));

describe('the directory', () => {
  it('signs a member in, and an app gets what they approve', async () => {
    const { tokens } = await gate.connect('ann', 'ann’s');
    const who = await fetch(`${gate.world.origin}/api/oauth/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(await who.json()).toMatchObject({
      sub: '7',
      email: 'ann@school.test',
      email_verified: false,
      name: 'Ann Lee',
    });
  });

  it.each([
    ['ANN', 'ann’s'],
    [' ann.lee ', 'ann’s'],
    ['bob@school.test', 'bob’s'],
  ])('signs in a member by %j', async (username, password) => {
    expect((await gate.attempt(username, password)).status).toBe(303);
  });

  it.each([
    ['ann', 'bob’s'],
    ['bob@school.test', 'ann’s'],
    ['ann@school.test', 'ann’s'],
    ['7', 'ann’s'],
    ['ann', 'ANN’S'],
    ['ann', 'ann’s '],
    ['nobody', 'ann’s'],
    ['nobody', 'bob’s'],
    ['ann', ANN],
    ['__proto__', 'ann’s'],
  ])('refuses %j with %j', async (username, password) => {
    const page = await gate.attempt(username, password);
    expect(page.status).toBe(400);
    expect(page.text).toContain('id="problem"');
    expect(page.headers.getSetCookie().join()).not.toContain('coursegate_member');
  });

  it('is reloaded when it changes, and keeps its members while the file has a mistake', async () => {
    const cleo = { id: 'cleo', login: 'cleo', password: ANN };
    expect((await gate.attempt('cleo', 'ann’s')).status).toBe(400);
    write(file(ann, cleo));
    expect((await gate.attempt('cleo', 'ann’s')).status).toBe(303);
    expect((await gate.attempt('bob@school.test', 'bob’s')).status).toBe(400);
    write(file(ann, { ...cleo, password: 'cleo’s in plain text' }));
    expect((await gate.attempt('cleo', 'ann’s')).status).toBe(303);
    expect(gate.written()).toMatch(/line 3: members\[1\]\.password is not a supported password hash/);
    expect(gate.written()).not.toContain('in plain text');
    rmSync(path);
    expect((await gate.attempt('cleo', 'ann’s')).status).toBe(303);
    expect(gate.written()).toContain('the members file cannot be read');
    write(file(ann, bob));
    expect((await gate.attempt('cleo', 'ann’s')).status).toBe(400);
  });

  it('is reloaded when the file is replaced by one of the same length and time', async () => {
    const named = (login: string) => file(ann, { id: 'cleo', login, password: ANN });
    const then = new Date('2026-01-01T00:00:00Z');
    for (const login of ['cleo', 'clea']) {
      write(named(login), then);
      expect((await gate.attempt(login, 'ann’s')).status).toBe(303);
    }
    expect((await gate.attempt('cleo', 'ann’s')).status).toBe(400);
  });

  it('logs a mistake once, not at each sign-in', async () => {
    const told = (what: string) => gate.written().split(what).length - 1;
    const [mistakes, losses] = [told('the members file has a mistake'), told('the members file cannot be read')];
    write('members: []\n');
    for (let turn = 0; turn < 3; turn += 1) await gate.attempt('ann', 'ann’s');
    expect(told('the members file has a mistake')).toBe(mistakes + 1);
    rmSync(path);
    for (let turn = 0; turn < 3; turn += 1) await gate.attempt('ann', 'ann’s');
    expect(told('the members file cannot be read')).toBe(losses + 1);
  });

  it('tells suspended members so, but only those who know the password', async () => {
    write(file({ ...ann, suspended: true }, bob));
    const page = await gate.attempt('ann', 'ann’s');
    expect(page.status).toBe(403);
    expect(page.text).toMatch(/role="alert" id="problem">Your account at <bdi>Harbour Lane School<\/bdi> is suspended/);
    expect(page.headers.getSetCookie().join()).not.toContain('coursegate_member');
    const shown = async (username: string) => {
      const { status, text } = await gate.attempt(username, 'wrong');
      return [status, text.replaceAll(username, '').replace(/="[\w/-]{43,}"/g, '')];
    };
    const [status, text] = await shown('ann');
    expect([status, text]).toEqual(await shown('nobody'));
    expect([status, String(text).includes('suspended')]).toEqual([400, false]);
  });

  it.each([
    ['is gone from the file', () => file(bob)],
    ['is suspended', () => file({ ...ann, suspended: true }, bob)],
    ['has another password', () => file({ ...ann, password: BOB }, bob)],
  ])('ends the connections of a member who %s', async (_, changed) => {
    const { app, tokens } = await gate.connect('ann', 'ann’s');
    const again = await refresh(app, String(tokens.refresh_token));
    write(changed());
    await expect(refresh(app, String(again.refresh_token))).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});

describe('signing out where the gate holds the sign-in', () => {
  const list = (browser = createBrowser()) => browser.open(`${gate.world.origin}/oauth/apps`);
  const signedIn = async () => {
    const browser = createBrowser();
    const page = await browser.submit(await list(browser), { username: 'ann', password: 'ann’s' });
    return { browser, page };
  };

  it('ends the sign-in of this browser only, and says so; apps stay connected', async () => {
    const { app, tokens } = await gate.connect('ann', 'ann’s');
    const elsewhere = await signedIn();
    const { browser, page } = await signedIn();
    expect(page.text).toContain('<button type="submit" class="link">Sign out</button>');
    const stolen = browser.cookies.get('coursegate_member')?.value ?? '';
    const asked = (await authorizationRequest(app)).url;
    expect((await browser.open(asked)).text).toContain('<main id="consent">');

    const out = await browser.submit(page, {});
    expect([out.status, out.text.includes('<main id="signed-out">')]).toEqual([200, true]);
    expect(out.text).toContain('You are signed out');
    expect(out.headers.get('cache-control')).toBe('no-store');
    expect(browser.cookies.has('coursegate_member')).toBe(false);
    expect((await list(browser)).text).toContain('<main id="sign-in">');
    expect((await browser.open(asked)).text).toContain('<main id="sign-in">');
    // The cookie is worth nothing any more, wherever it was kept.
    browser.cookies.set('coursegate_member', { value: stolen, path: '/' });
    expect((await list(browser)).text).toContain('<main id="sign-in">');
    expect((await list(elsewhere.browser)).text).toContain('<main id="apps">');
    expect((await refresh(app, String(tokens.refresh_token))).access_token).toBeDefined();
    expect(gate.written()).toContain('"event.action":"session_ended"');
    // Sent again, as by a reload.
    expect((await browser.submit(page, {})).text).toContain('<main id="signed-out">');
  });

  it('takes no form of another site or another member', async () => {
    const { browser, page } = await signedIn();
    const url = `${gate.world.origin}/oauth/apps/sign-out`;
    const cookie = `coursegate_member=${browser.cookies.get('coursegate_member')?.value}`;
    const send = async (body: Record<string, string>, headers: Record<string, string> = {}) =>
      fetch(url, {
        method: 'POST',
        redirect: 'manual',
        body: new URLSearchParams(body),
        headers: { cookie, ...headers },
      });
    const csrf = /name="csrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    expect((await send({ csrf }, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' })).status).toBe(403);
    expect((await send({ csrf }, { origin: 'https://evil.example' })).status).toBe(403);
    for (const body of [{}, { csrf: 'x' }]) expect((await send(body)).status).toBe(303);
    expect((await fetch(url, { headers: { cookie, accept: 'text/html' } })).status).toBe(405);
    expect((await list(browser)).text).toContain('<main id="apps">');
  });
});

describe('an unknown login in the directory', () => {
  const counted = (members: readonly Record<string, unknown>[]) => {
    const asked: PasswordHash[] = [];
    const { check } = createDirectory({
      file: join(folder, 'not there.yaml'),
      members: parseMembers('members.yaml', file(...members)).members ?? [],
      hashing: {
        verify(hash, password) {
          asked.push(hash);
          return hash.verify(password);
        },
      },
      log: { error: () => {} },
    });
    const ask = async (username: string, password = 'ann’s') => ({
      verdict: await check({ username, password, address: '192.0.2.1' }),
      schemes: asked.splice(0).map(({ scheme }) => scheme),
    });
    return ask;
  };

  it('takes one hash, like a known one, and is refused even if that hash matches', async () => {
    const ask = counted([ann]);
    expect(await ask('ann', 'wrong')).toEqual({ verdict: { kind: 'wrong' }, schemes: ['bcrypt'] });
    expect(await ask('nobody', 'wrong')).toEqual({ verdict: { kind: 'wrong' }, schemes: ['bcrypt'] });
    expect(await ask('nobody')).toEqual({ verdict: { kind: 'wrong' }, schemes: ['bcrypt'] });
    const suspended = counted([{ ...ann, suspended: true }]);
    expect(await suspended('ann', 'wrong')).toEqual({ verdict: { kind: 'wrong' }, schemes: ['bcrypt'] });
    expect(await suspended('ann')).toEqual({ verdict: { kind: 'suspended', sub: '7' }, schemes: ['bcrypt'] });
    expect(await suspended('nobody')).toEqual({ verdict: { kind: 'wrong' }, schemes: ['bcrypt'] });
  });

  it('takes the same scheme each time, and all schemes are used', async () => {
    const ask = counted([ann, bob]);
    const names = Array.from({ length: 12 }, (_, at) => `nobody ${at}`);
    const first = await Promise.all(names.map(async (name) => (await counted([ann, bob])(name)).schemes));
    for (const [at, name] of names.entries()) expect((await ask(name)).schemes).toEqual(first[at]);
    expect(new Set(first.flat())).toEqual(new Set(['bcrypt', 'argon2id']));
  });

  it('is told to wait, like everyone, when too many hashes are running', async () => {
    const { check } = createDirectory({
      file: path,
      members: [],
      hashing: { verify: async () => 'busy' },
      log: { error: () => {} },
    });
    for (const username of ['ann', 'nobody']) {
      const verdict = await check({ username, password: 'x', address: '192.0.2.1' });
      expect(verdict).toEqual({ kind: 'slow_down', retryAfter: 5 });
    }
  });
});

describe('the members file of the directory', () => {
  const problems = (text: string) =>
    parseMembers('members.yaml', text).problems.map(({ line, path: at, message }) => `${line} ${at} ${message}`);

  it.each([
    ['members: []\n', ['1 members']],
    ['people: []\n', ['1 members', '1 people']],
    [file({ ...ann, password: 'hunter2hunter2' }), ['2 members[0].password is not a supported password hash']],
    [file({ ...ann, password: `${ANN.slice(0, 40)}` }), ['2 members[0].password is a password hash that is truncated']],
    [file(ann, { ...bob, id: '7' }), ['3 members[1].id is the same as in members[0]']],
    [file(ann, { ...bob, login: 'ANN ' }), ['3 members[1].login is the same as in members[0]']],
    [file(bob, { ...ann, login: 'bob@school.test' }), ['3 members[1].login is the same as in members[0]']],
    [file({ id: 1, password: ANN }), ['2 members[0] must have a login or an email']],
    [file({ ...ann, id: 0 }), ['2 members[0].id must be 1 to 255 characters']],
    [file({ ...ann, id: ' 7' }), ['2 members[0].id must be 1 to 255 characters']],
    [file({ ...ann, admin: true }), ['2 members[0].admin']],
    ['members: [\n', ['']],
  ])('is refused with the line of the mistake: %#', (text, expected) => {
    const said = problems(text);
    expect(said).toHaveLength(expected.length);
    for (const [at, beginning] of expected.entries()) expect(said[at]).toContain(beginning);
    expect(parseMembers('members.yaml', text).members).toBeUndefined();
  });

  it('is refused without showing a hash or password', () => {
    for (const password of ['hunter2hunter2', ANN.slice(0, 40)]) {
      const said = JSON.stringify(parseMembers('members.yaml', file({ ...ann, password, admin: true })).problems);
      expect(said).toContain('members[0]');
      expect(said).not.toContain(password.slice(-8));
    }
  });

  it('is checked by `coursegate check`', async () => {
    const config = join(folder, 'gate.yaml');
    writeFileSync(
      config,
      `version: 1
profile: B
origin: https://school.example
store: { kind: memory }
upstreams: { school: { url: http://127.0.0.1:4000 } }
login: { kind: directory, file: members.yaml }
`,
    );
    const check = () => execFileSync(process.execPath, [MAIN, 'check', config], { stdio: 'pipe' }).toString();
    expect(check()).toContain('valid');
    write(file({ ...ann, password: 'hunter2hunter2' }));
    const refused = await promisify(execFile)(process.execPath, [MAIN, 'check', config]).catch((error) => error);
    expect(refused.code).toBe(78);
    expect(refused.stderr).toMatch(/members\.yaml:2:\d+ {2}members\[0\]\.password: is not a supported password hash/);
    expect(refused.stderr).not.toContain('hunter2');
  });
});

describe('coursegate hash-password', () => {
  const hash = (input: string) =>
    execFileSync(process.execPath, [MAIN, 'hash-password'], { input, stdio: 'pipe' }).toString();

  it('prints the hash of the first line, and nothing else', async () => {
    const [line, ...rest] = hash('correct horse \nnot this\n').split('\n');
    expect(rest).toEqual(['']);
    expect(await readPasswordHash(line ?? '')?.verify('correct horse ')).toBe(true);
  });

  it.each(['', '\n', `${'x'.repeat(1025)}\n`])('refuses a password that could not be used to sign in (%#)', (input) => {
    expect(() => hash(input)).toThrow(/password/);
  });
});
