import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseCheck } from '../../src/login/database/connector.ts';
import { databaseLogin } from '../../src/login/database/settings.ts';
import { createLog } from '../../src/operations/log.ts';
import type { Hashing } from '../../src/passwords/hashing.ts';
import type { PasswordHash } from '../../src/passwords/password-hash.ts';
import { authorizationRequest, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { missing } from '../support/missing.ts';
import { startWorld, type World } from '../support/world.ts';
import { ENGINES, type Engine } from './support/engines.ts';

const BCRYPT = '$2y$05$bQZ1cLGoAbtkELjb5m3j/uyaeC4dQY6OxKrYVMv6K82UQ6Ej4ptV6';
const OTHER = '$2y$06$jg/XUgjmw/KfX8guwJTcbu9GJmjndU4tePHFnT7fNU8B6CR8Dpl1C';
const PEPPERED = '$2a$05$opOBJsS/qeZ1mchRXwLQUOmx1K2zIZoaxUG7W2NCJlXVJETqcWKRW';
const PEPPER = 'a pepper of Devise';

/** All but the peppered one have the password `correct horse`. */
const MEMBERS = [
  ['1001', 'sam@school.test', BCRYPT, 'Sam Student'],
  ['9007199254740993', 'big@school.test', BCRYPT, 'Big Number'],
  [
    '1003',
    'django@school.test',
    'pbkdf2_sha256$20000$seasaltseasalt$AdAvoLf6ISDfOk7ZywrMPBGvsBWLmJNF+vkY0sxM/iQ=',
    'D',
  ],
  ['1004', 'wp@school.test', '$wp$2y$05$VxQpkuAOUYcET5g9naQTE.YqS616LbU//8UYPOsTcy5xwucaxgjgK', 'W'],
  ['1005', 'twice@school.test', BCRYPT, 'One'],
  ['1006', 'twice@school.test', BCRYPT, 'Two'],
  ['1007', 'md5@school.test', '5f4dcc3b5aa765d61d8327deb882cf99', 'M'],
  ['1008', 'devise@school.test', PEPPERED, 'P'],
  ['1009', 'empty@school.test', '', 'E'],
  ['0', 'zero@school.test', BCRYPT, 'Z'],
  ['1010', "o'neil@school.test", BCRYPT, 'O'],
];

const QUERY =
  "select id, password_digest as hash, email, 1 as email_verified, name from users where lower(email) = lower($1) and '$1' <> email";

/** True for every row, but slow for sam's. */
const slowFor = (slow: string) =>
  `case when lower(email) = lower($1) and email = 'sam@school.test' then ${slow} else 1 = 1 end`;

const present = new Map(
  ENGINES.map(({ name, lacking }) => [
    name,
    lacking === undefined || missing(`no ${name} found: its tests need one (apt-get install ${lacking})`),
  ]),
);

describe.each(ENGINES)('a database of members in $name', ({ name, slow, writing, start }) => {
  if (present.get(name) === false) return it.skip('signs members in', () => {});

  let engine: Engine;
  let world: World;
  let folder: string;
  const log = () => readFileSync(join(folder, 'log'), 'utf8');

  const settings = (more: Record<string, unknown> = {}) => ({
    constants: { login: { attempts: { account: { requests: 10_000, per: 900 } } } },
    login: {
      kind: 'database',
      url: { env: 'MEMBERS' },
      query: QUERY,
      timeout: '30s',
      attempts: { address: { requests: 10_000, per: '15m' } },
      ...more,
    },
  });

  beforeAll(async () => {
    engine = await start();
    await engine.run(
      'create table users (id bigint, email varchar(100), password_digest varchar(200), name varchar(100))',
    );
    for (const member of MEMBERS) {
      await engine.run(
        `insert into users values (${member.map((one) => `'${one.replaceAll("'", "''")}'`).join(', ')})`,
      );
    }
    const environment = { MEMBERS: engine.url, PEPPER };
    folder = mkdtempSync(join(tmpdir(), 'coursegate-database-'));
    const written = createLog('error', openSync(join(folder, 'log'), 'w'));
    world = await startWorld({ profile: 'A', environment, log: written, overrides: settings() });
  });
  afterAll(async () => {
    await world.close();
    await engine.close();
    rmSync(folder, { recursive: true });
  });

  const signIn = async (
    username: string,
    password = 'correct horse',
  ): Promise<{ readonly page: Page; readonly browser: Browser }> => {
    const browser = createBrowser();
    const form = await browser.open((await authorizationRequest(await registerApp(world.origin))).url);
    return { page: await browser.submit(form, { username, password }), browser };
  };

  const expectWrong = ({ page, browser }: Awaited<ReturnType<typeof signIn>>): void => {
    expect([page.status, page.text.includes('id="sign-in"')]).toEqual([400, true]);
    expect(browser.cookies.has('coursegate_member')).toBe(false);
  };

  const expectIll = ({ page, browser }: Awaited<ReturnType<typeof signIn>>): void => {
    expect([page.status, page.text.includes('id="error"')]).toEqual([503, true]);
    expect(browser.cookies.has('coursegate_member')).toBe(false);
  };

  it.each(['sam@school.test', 'SAM@School.test', 'django@school.test', 'wp@school.test', "o'neil@school.test"])(
    'signs %s in with the stored hash, and with no other password',
    async (username) => {
      const { page } = await signIn(username);
      expect(page.text).toContain('id="consent"');
      expect(page.text.toLowerCase()).toContain(username.toLowerCase().replace("'", '&#39;'));
      expectWrong(await signIn(username, 'correct horsf'));
    },
  );

  it('returns the exact member ID, and a version that changes with the password', async () => {
    const verified: PasswordHash[] = [];
    const hashing: Hashing = {
      verify: (hash, password) => {
        verified.push(hash);
        return hash.verify(password);
      },
    };
    const written = { kind: 'database', url: { env: 'X' }, query: QUERY };
    const config = databaseLogin.parse(written);
    const logged: unknown[] = [];
    const { check, close } = databaseCheck(config, {
      ...{ url: engine.url, pepper: '', hashing },
      log: { error: (what: unknown) => void logged.push(what) },
    });
    const given = { password: 'correct horse', address: '192.0.2.1' };
    const found = await check({ ...given, username: 'big@school.test' });
    expect(found).toMatchObject({
      kind: 'member',
      member: { sub: '9007199254740993', email: 'big@school.test', emailVerified: true },
    });
    const version = 'member' in found ? found.member.version : undefined;
    expect(version).toMatch(/^[\w-]{43}$/);
    await engine.run(`update users set password_digest = '${OTHER}' where email = 'big@school.test'`);
    const again = await check({ ...given, username: 'big@school.test' });
    expect('member' in again && again.member.version !== version).toBe(true);
    // An unknown member costs as much as a hash of the kind last seen.
    expect(await check({ ...given, username: 'nobody@school.test' })).toEqual({ kind: 'wrong' });
    expect(await check({ ...given, username: 'empty@school.test' })).toEqual({ kind: 'wrong' });
    expect(logged).toEqual([]);
    // So does a member who cannot sign in because of what their rows hold: unsalted MD5, two rows.
    expect(await check({ ...given, username: 'md5@school.test' })).toEqual({ kind: 'wrong' });
    expect(await check({ ...given, username: 'twice@school.test' })).toEqual({ kind: 'wrong' });
    expect(verified).toHaveLength(6);
    for (const hash of verified.slice(2)) expect(hash).toBe(verified[1]);
    expect(logged).toMatchObject([{ member: '1007' }, { member: '1005' }]);
    await close();

    const recheck = { upstream: 'school', path: '/members/{member.id}', active: '/active' };
    for (const [more, version] of [
      [{ query: QUERY.replace(' from', ', name as version from') }, 'Big Number'],
      [{ recheck }, undefined],
    ] as const) {
      const other = databaseCheck(databaseLogin.parse({ ...written, ...more }), {
        ...{ url: engine.url, pepper: '', hashing, log: { error: () => {} } },
      });
      const told = await other.check({ ...given, username: 'big@school.test' });
      expect('member' in told && told.member.sub).toBe('9007199254740993');
      expect('member' in told && told.member.version).toBe(version);
      expect(other.recheck === undefined).toBe('recheck' in more);
      await other.close();
    }
    const full = databaseCheck(config, {
      ...{ url: engine.url, pepper: '', log: { error: () => {} } },
      hashing: { verify: async () => 'busy' },
    });
    for (const username of ['big@school.test', 'nobody@school.test']) {
      expect(await full.check({ ...given, username })).toEqual({ kind: 'slow_down', retryAfter: 5 });
    }
    await full.close();
  });

  it('finds a member again by the login, and compares the hash, without a password', async () => {
    const hashing: Hashing = { verify: (hash, password) => hash.verify(password) };
    const made = (query: string) =>
      databaseCheck(databaseLogin.parse({ kind: 'database', url: { env: 'X' }, query }), {
        ...{ url: engine.url, pepper: '', hashing, log: { error: () => {} } },
      });
    const { check, recheck, close } = made(QUERY);
    const found = await check({ username: 'DJANGO@school.test', password: 'correct horse', address: '192.0.2.1' });
    if (found.kind !== 'member' || recheck === undefined) throw new Error('the member cannot be rechecked');
    const { sub, login, version } = found.member;
    expect([sub, login]).toEqual(['1003', 'DJANGO@school.test']);
    expect(await recheck(sub, login)).toEqual({ kind: 'good', version });
    // Another member has the login by now; the login is gone; nothing is known about the login.
    expect(await recheck('1004', login)).toEqual({ kind: 'gone' });
    expect(await recheck(sub, 'nobody@school.test')).toEqual({ kind: 'gone' });
    expect(await recheck(sub, undefined)).toEqual({ kind: 'good', version: undefined });
    expect(await recheck('1009', 'empty@school.test')).toEqual({ kind: 'inactive' });
    const ill = { code: 'login_unavailable', status: 503 };
    await expect(recheck('1005', 'twice@school.test')).rejects.toMatchObject(ill);
    await engine.run(`update users set password_digest = '${OTHER}' where id = 1003`);
    const changed = await recheck(sub, login);
    expect(changed.kind === 'good' && changed.version !== version).toBe(true);
    await engine.run(`update users set password_digest = '${MEMBERS[2]?.[2]}' where id = 1003`);
    expect(await recheck(sub, login)).toEqual({ kind: 'good', version });
    await close();

    const versioned = made(QUERY.replace(' from', ', name as version from'));
    expect(await versioned.recheck?.(sub, login)).toEqual({ kind: 'good', version: 'D' });
    // Without a hash nobody signs in, and the version alone decides about connections: a lock that passes.
    expect(await versioned.recheck?.('1009', 'empty@school.test')).toEqual({ kind: 'good', version: 'E' });
    await versioned.close();
    const flagged = made(QUERY.replace(' from', ", case when id = 1003 then '2026-11-01' end as suspended from"));
    const given = { username: 'django@school.test', address: '192.0.2.1' };
    expect(await flagged.check({ ...given, password: 'correct horse' })).toEqual({ kind: 'suspended', sub });
    expect(await flagged.check({ ...given, password: 'wrong' })).toEqual({ kind: 'wrong' });
    expect(await flagged.recheck?.(sub, login)).toEqual({ kind: 'inactive' });
    const other = await flagged.check({ ...given, username: 'sam@school.test', password: 'correct horse' });
    expect(other.kind).toBe('member');
    await flagged.close();
    const wrong = made(QUERY.replace('id, ', 'id as who, '));
    await expect(wrong.recheck?.(sub, login)).rejects.toMatchObject(ill);
    await wrong.close();
  });

  it.each(['nobody@school.test', 'empty@school.test', 'md5@school.test', 'twice@school.test'])(
    'makes %s look like a wrong password',
    async (username) => {
      const unknown = await signIn(username);
      const wrong = await signIn('sam@school.test', 'wrong');
      expectWrong(unknown);
      const without = (page: Page, login: string) =>
        page.text
          .replaceAll(login, '')
          .replaceAll(/value="[^"]*"/g, '')
          .replaceAll(/[\w-]{43}/g, '');
      expect(without(unknown.page, username)).toBe(without(wrong.page, 'sam@school.test'));
    },
  );

  it.each([
    "' or 1=1 -- ",
    "' or '1'='1",
    "sam@school.test' -- ",
    "sam@school.test' #",
    "\\' or 1=1 -- ",
    "'; drop table users; -- ",
    "' union select id, password_digest, email, name from users limit 1 -- ",
    '%',
    '$1',
    '?',
    ':1',
    'sam@school.test\u0000',
    '\ud83d\ude00',
  ])('treats the login %j as plain text', async (username) => {
    expectWrong(await signIn(username));
    expect(await engine.count('select * from users')).toBe(MEMBERS.length);
  });

  it.each([
    ['two members', 'twice@school.test', 'more than one row for one login'],
    ['an MD5 without salt', 'md5@school.test', 'the value in column hash'],
  ])('signs no one in when it has %s for a login, and logs the reason', async (_, username, why) => {
    const before = log().length;
    expectWrong(await signIn(username));
    const line = log().slice(before);
    expect(line).toContain('a member cannot sign in');
    expect(line).toContain(why);
    expect(line).not.toContain('5f4dcc3b5aa765d61d8327deb882cf99');
  });

  it('fails when it has the ID 0 for a login, even with the right password', async () => {
    expectIll(await signIn('zero@school.test'));
    expectWrong(await signIn('zero@school.test', 'wrong'));
  });

  it('has no open connection after the gate has closed', async () => {
    expect((await signIn('sam@school.test')).page.text).toContain('id="consent"');
    await world.whileStopped(async () => {
      await expect.poll(engine.connections, { timeout: 20_000 }).toBe(0);
    });
  });

  it('supports a pepper', async () => {
    await world.restart(settings({ hash: { pepper: { env: 'PEPPER' } } }));
    expect((await signIn('devise@school.test')).page.text).toContain('id="consent"');
    expectWrong(await signIn('sam@school.test'));
    await world.restart(settings());
    expectWrong(await signIn('devise@school.test'));
  });

  it('needs the columns id and hash', async () => {
    const query = 'select id as who, password_digest as hash, email from users where email = $1';
    await world.restart(settings({ query }));
    // A missing column must not look like a member without a password: it is a configuration error, and no member can
    // sign in.
    expectIll(await signIn('sam@school.test'));
    // Nor does the response reveal who is a member.
    expectIll(await signIn('nobody@school.test'));
  });

  it('fails when the query is invalid, without revealing it', async () => {
    await world.restart(settings({ query: 'select id from no_such_table where email = $1' }));
    const ill = await signIn('sam@school.test');
    expectIll(ill);
    expect(ill.page.text).not.toContain('no_such_table');
  });

  it.skipIf(writing === undefined)('cannot be written to, whatever the query does', async () => {
    await engine.run(writing?.make ?? '');
    await world.restart(settings({ query: `${QUERY} and ${writing?.condition}` }));
    expectIll(await signIn('sam@school.test'));
    expect(await engine.count('select * from notes')).toBe(0);
  });

  it('that is slow makes the sign-in fail after the timeout, and works again later', async () => {
    await world.restart(settings({ query: `${QUERY} and ${slowFor(slow)}`, timeout: '1s' }));
    const began = performance.now();
    expectIll(await signIn('sam@school.test'));
    expect(performance.now() - began).toBeLessThan(20_000);
    await expect.poll(() => engine.busy('sleep(6'), { timeout: 20_000 }).toBe(0);
    // On a busy machine, one second may be too short for the other members too, hence the retries.
    const text = async () => (await signIn('django@school.test')).page.text;
    await expect.poll(text, { timeout: 60_000, interval: 500 }).toContain('id="consent"');
  });

  it('that dies during a query fails the sign-in at once', async () => {
    await world.restart(settings({ query: `${QUERY} and ${slowFor(slow)}`, timeout: '30s' }));
    if (name !== 'SQLite') {
      const asked = signIn('sam@school.test');
      await expect.poll(() => engine.busy('sleep(6'), { timeout: 20_000 }).toBe(1);
      await engine.kill();
      expectIll(await asked);
    } else await engine.kill();
    expectIll(await signIn('django@school.test'));
  });
});
