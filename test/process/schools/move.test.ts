import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/operations/log.ts';
import { openWithAny } from '../../../src/storage/cipher.ts';
import { openSchoolFile } from '../../../src/storage/copy/school-file.ts';
import { deriveKey, schoolSecrets } from '../../../src/storage/seal.ts';
import { mysql } from '../../../src/storage/sql/mysql.ts';
import { postgres } from '../../../src/storage/sql/postgres.ts';
import { sql } from '../../../src/storage/sql/session.ts';
import {
  type App,
  authorizationRequest,
  introspect,
  postForm,
  redeem,
  registerApp,
  revoke,
} from '../../support/app.ts';
import { createBrowser } from '../../support/browser.ts';
import { connect, refreshForm, statusOf, token } from '../../support/connection.ts';
import { offeredScopes, reachConsent, SAM, signIn } from '../../support/member.ts';
import { runToEnd } from '../../support/operator.ts';
import { redisPresent } from '../../support/redis.ts';
import { type Schools, type SchoolsOptions, startSchools } from '../../support/schools.ts';
import { startStores, type TestStores } from '../../support/store-files.ts';

const ONE = { profile: 'A', origin: 'https://one.example', clients: { registration: { enabled: true } } };
const TWO = { ...ONE, origin: 'https://two.example' };

let stores: TestStores;
const open: Schools[] = [];
/** The files of their logs, by their folders. */
const logs = new Map<string, string>();
beforeAll(async () => {
  stores = await startStores();
});
afterEach(async () => {
  for (const schools of open.splice(0).toReversed()) await schools.close();
});
afterAll(async () => {
  await stores.close();
  for (const log of logs.values()) rmSync(dirname(log), { recursive: true });
});

/** The commands about schools in the audit log, with the school. */
const audited = ({ folder }: Schools): readonly string[] =>
  readFileSync(logs.get(folder) ?? '', 'utf8')
    .split('\n')
    .filter((line) => line.includes('"event.action":"school_'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map((line) => `${line['event.action']} ${line.school}`);

interface Deployment extends Schools {
  readonly store: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string>>;
  run(...words: readonly string[]): ReturnType<typeof runToEnd>;
}

/** A process with many schools on a new store of this kind, with a secret that no other one has. */
async function deployment(
  kind: string,
  schools: SchoolsOptions['schools'],
  beside?: Deployment,
  store?: Deployment['store'],
): Promise<Deployment> {
  const settings = store ?? (await stores.empty(kind)).settings;
  const secret = store ? beside?.environment.SECRET : `secret-of-deployment-${open.length}`.padEnd(40, '-');
  const environment = { ...stores.environment, OPERATOR: 'o'.repeat(32), SECRET: String(secret), NEXT: 'n'.repeat(32) };
  const main = { store: settings, secret: { env: 'SECRET' }, admin: { hmac: { secret: { env: 'OPERATOR' } } } };
  const log = join(mkdtempSync(join(tmpdir(), 'coursegate-move-')), 'log');
  const started = await startSchools({
    ...{ schools, main, environment, idle: 1000, upstreams: beside?.upstreams },
    log: createLog('error', openSync(log, 'a')),
  });
  open.push(started);
  logs.set(started.folder, log);
  writeFileSync(join(started.folder, 'move.secret'), 'm'.repeat(32));
  return Object.assign(Object.create(started, { admin: { get: () => started.admin } }), {
    store: settings,
    environment,
    run: (...words: readonly string[]) =>
      runToEnd(['school', ...words, '--config', started.main, '--admin', started.admin], environment),
  });
}

const keys = async (origin: string) => (await fetch(`${origin}/.well-known/jwks.json`)).json();
const renew = (app: App, refreshToken: unknown) => token(app, refreshForm(app, String(refreshToken)));

/** A member with a session and a page that waits, an app with tokens, and what the school has published. */
async function inUse(origin: string) {
  const app = await registerApp(origin, { confidential: true });
  const browser = createBrowser();
  await signIn(browser, origin, SAM);
  const tokens = await connect(app, { browser });
  const revoked = await connect(app, { browser });
  await revoke(app, String(revoked.refresh_token));
  const request = await authorizationRequest(app);
  return {
    app,
    browser,
    tokens,
    revoked,
    request,
    consent: await reachConsent(request.url),
    published: await keys(origin),
  };
}

/** All of that is as it was. */
async function isAsBefore({
  app,
  browser,
  tokens,
  revoked,
  request,
  consent,
  published,
}: Awaited<ReturnType<typeof inUse>>) {
  const { origin } = new URL(app.server.issuer);
  expect(await keys(origin)).toEqual(published);
  expect(await statusOf(origin, tokens.access_token)).toBe(200);
  expect((await introspect(app, tokens.access_token)).active).toBe(true);
  expect((await browser.open(`${origin}/oauth/apps`)).text).toMatch(/<main id="apps".*Test App/s);
  const renewed = await renew(app, tokens.refresh_token);
  expect(await statusOf(origin, renewed.body.access_token)).toBe(200);
  expect(await statusOf(origin, revoked.access_token)).toBe(401);
  expect(await renew(app, revoked.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  const approved = await consent.browser.submit(
    consent.page,
    { decision: 'approve', scope: offeredScopes(consent.page) },
    (location) => !location.startsWith(app.redirectUri),
  );
  const redeemed = await redeem(app, request, new URL(String(approved.location)));
  expect(await statusOf(origin, redeemed.access_token)).toBe(200);
  return renewed.body;
}

/** Every place of a store that has this text: rows, keys and what they hold. */
async function found({ store, environment }: Deployment, text: string): Promise<readonly string[]> {
  const { kind, path, keyPrefix, url } = store;
  if (kind === 'redis') {
    const client = new Redis(stores.redis?.socket ?? '');
    const all = await client.keys('*');
    const places = all.filter((key) => key.startsWith(`{${keyPrefix}}:`) && key.includes(text));
    for (const key of all.filter((one) => one.startsWith(`{${keyPrefix}}:`)))
      if (
        (await client.type(key)) === 'zset' &&
        (await client.zrange(key, '0', '-1')).some((one) => one.includes(text))
      )
        places.push(key);
    client.disconnect();
    return places;
  }
  if (kind === 'sqlite') {
    const database = new DatabaseSync(String(path), { readOnly: true, timeout: 5000 });
    const rows = ['entry', 'charged'].flatMap((table) => database.prepare(`SELECT * FROM ${table}`).all());
    database.close();
    return rows.map((row) => JSON.stringify(row)).filter((row) => row.includes(text));
  }
  const session = await (kind === 'mysql' ? mysql : postgres).connect(environment[(url as { env: string }).env] ?? '');
  try {
    const tables = ['entry', 'charge', 'quota', 'counter'].map((name) => sql(`SELECT * FROM coursegate_${name}`));
    return (await session.run(...tables))
      .flat()
      .map((row) => JSON.stringify(row))
      .filter((row) => row.includes(text));
  } finally {
    session.close();
  }
}

/** The ids below which a store has entries, by their number. */
async function ids(of: Deployment): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  for (const place of await found(of, '.'))
    for (const [, id = ''] of place.matchAll(/(?:[:"])([0-9a-f]{24})\.\w/g)) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

describe('a school that is moved', () => {
  const exported = async (source: Deployment, to = 'one.school') => {
    const file = join(source.folder, to);
    const secret = join(source.folder, 'move.secret');
    const ran = await source.run('export', 'one', '--to', file, '--secret', secret);
    return { file, ran, words: ['--from', file, '--secret', secret] };
  };

  it('keeps its members, apps, tokens and keys, from each kind of store to the next', async () => {
    for (const [at, from] of stores.kinds.entries()) {
      const to = stores.kinds[(at + 1) % stores.kinds.length] ?? from;
      const source = await deployment(from, { one: ONE, two: TWO });
      const one = await inUse(ONE.origin);
      const two = await inUse(TWO.origin);
      // More than one step reads.
      await Promise.all(Array.from({ length: 80 }, () => registerApp(ONE.origin)));
      const { file, ran, words } = await exported(source);
      expect(ran).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Exported [2-9]\d\d entries to /) });
      const text = readFileSync(file, 'latin1');
      expect(text.length).toBeGreaterThan(10_000);
      for (const kept of ['Client', 'payload', 'one.example', String(source.environment.SECRET)])
        expect(text.slice(20)).not.toContain(kept);

      // Here it is not served any more, whatever is asked, and the other one is.
      for (const path of ['/.well-known/jwks.json', '/', '/oauth/apps']) {
        const answer = await fetch(ONE.origin + path);
        expect(answer.status).toBe(503);
        expect(answer.headers.get('retry-after')).toBe('30');
      }
      const form = refreshForm(one.app, String(one.tokens.refresh_token));
      expect((await postForm(`${ONE.origin}/api/oauth/token`, form)).status).toBe(503);
      expect(await statusOf(ONE.origin, one.tokens.access_token)).toBe(503);
      expect(await statusOf(TWO.origin, two.tokens.access_token)).toBe(200);

      const target = await deployment(to, { uno: ONE }, source);
      // That it was opened before does not matter.
      expect(await keys(ONE.origin)).not.toEqual(one.published);
      expect(await target.run('import', 'uno', ...words)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Imported \d\d+ entries/),
      });
      expect(audited(target)).toEqual(['school_imported uno']);
      const renewed = await isAsBefore(one);
      expect(await statusOf(ONE.origin, renewed.access_token)).toBe(200);
      // What is sealed here is sealed with the secret of this process.
      const { stdout } = await runToEnd(
        ['secret', 'reseal', '--school', 'uno', '--config', target.main, '--admin', target.admin, '--json'],
        target.environment,
      );
      expect(JSON.parse(stdout)).toEqual({ unreadable: 0, resealed: 0 });
      for (const schools of open.splice(0).toReversed()) await schools.close();
    }
  }, 240_000);

  it('is served again where it was, if that is said, and can be exported again', async () => {
    const source = await deployment('sqlite', { one: ONE, two: TWO });
    const one = await inUse(ONE.origin);
    expect((await exported(source)).ran.code).toBe(0);
    await source.restart();
    expect((await fetch(`${ONE.origin}/.well-known/jwks.json`)).status).toBe(503);
    expect(await source.run('resume', 'one')).toMatchObject({ code: 0 });
    await isAsBefore(one);
    expect(await source.run('resume', 'one')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is served here/),
    });
    expect(audited(source)).toEqual(['school_exported one', 'school_resumed one']);
    // The first file is never overwritten.
    expect((await exported(source)).ran).toMatchObject({ code: 64, stderr: expect.stringMatching(/is there already/) });
    expect((await fetch(`${ONE.origin}/.well-known/jwks.json`)).status).toBe(200);
    expect((await exported(source, 'again.school')).ran.code).toBe(0);
    expect((await exported(source, 'repeated.school')).ran.code).toBe(0);
    expect((await fetch(`${ONE.origin}/.well-known/jwks.json`)).status).toBe(503);
  });

  it.skipIf(!redisPresent())(
    'is served by no replica any more, either',
    async () => {
      const source = await deployment('redis', { one: ONE, two: TWO });
      const replica = await deployment('redis', { one: ONE, two: TWO }, source, source.store);
      const one = await inUse(ONE.origin);
      const two = await inUse(TWO.origin);
      expect((await exported(source)).ran.code).toBe(0);
      expect(await statusOf(ONE.origin, one.tokens.access_token)).toBe(503);
      expect(await statusOf(TWO.origin, two.tokens.access_token)).toBe(200);
      expect((await source.run('resume', 'one')).code).toBe(0);
      await isAsBefore(one);
      for (const each of [source, replica]) each.write('one', undefined);
      // This one reads the change later.
      await source.reload();
      expect(await source.run('remove', 'one')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/ 0 are left/),
      });
      expect(await statusOf(ONE.origin, one.tokens.access_token)).toBe(503);
      expect((await ids(source)).size).toBe(1);
    },
    60_000,
  );

  it('is not imported from a file that is damaged, shortened, foreign, of another origin, or into one that was used', async () => {
    const source = await deployment('sqlite', { one: ONE, two: TWO });
    await inUse(ONE.origin);
    const { file, words } = await exported(source);
    const target = await deployment('sqlite', { one: ONE, other: { ...ONE, origin: 'https://other.example' } }, source);
    const refused = async (name: string, given: readonly string[], message: RegExp, code = 1) =>
      expect(await target.run('import', name, ...given)).toMatchObject({
        code,
        stderr: expect.stringMatching(message),
      });
    const before = (await ids(target)).size;

    const whole = readFileSync(file);
    const changed = join(target.folder, 'changed.school');
    const frames = framesOf(whole);
    // The header, the entries, and the end.
    expect(frames.length).toBe(3);
    const flipped = (at: number) => {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      return bytes;
    };
    const start = whole.subarray(0, 36);
    const variants: readonly (readonly [Buffer, RegExp])[] = [
      ...[20, 30, 36, 40, 200, whole.length >> 1, whole.length - 1].map((at) => [flipped(at), /is damaged/] as const),
      ...[36, 37, 300, whole.length - 1, whole.length - (frames.at(-1)?.length ?? 0)].map(
        (length) => [whole.subarray(0, length), /is damaged/] as const,
      ),
      [Buffer.concat([whole, Buffer.from([0])]), /is damaged/],
      [Buffer.concat([whole, frames.at(-1) as Buffer]), /is damaged/],
      [Buffer.concat([start, ...frames.toSpliced(1, 1)]), /is damaged/],
      [Buffer.concat([start, ...frames.toSpliced(1, 2, frames[2] as Buffer, frames[1] as Buffer)]), /is damaged/],
      [Buffer.alloc(0), /is not the export of a school/],
      [flipped(17), /is not the export of a school, or of another version/],
      [Buffer.from('version: 1\n'), /is not the export of a school/],
    ];
    for (const [bytes, message] of variants) {
      writeFileSync(changed, bytes);
      await expect(openSchoolFile(changed, 'm'.repeat(32))).rejects.toThrow(message);
    }
    writeFileSync(changed, whole.subarray(0, whole.length - (frames.at(-1)?.length ?? 0)));
    await refused('one', ['--from', changed, ...words.slice(2)], /is damaged/);
    const other = join(target.folder, 'other.secret');
    writeFileSync(other, 'x'.repeat(32));
    await refused('one', ['--from', file, '--secret', other], /is damaged/);
    writeFileSync(other, 'short');
    await refused('one', ['--from', file, '--secret', other], /too short/, 64);
    await refused('other', words, /The export is of https:\/\/one\.example/);
    await refused('nowhere', words, /lists no school "nowhere"/, 64);
    expect((await ids(target)).size).toBe(before);

    await inUse(ONE.origin);
    await refused('one', words, /has been used/);
  }, 120_000);

  it('opens nothing of another school, where it comes from and where it is taken to', async () => {
    const source = await deployment('sqlite', { one: ONE, two: TWO });
    await inUse(ONE.origin);
    await inUse(TWO.origin);
    const { file, words } = await exported(source);
    const target = await deployment('sqlite', { one: ONE, two: TWO }, source);
    await inUse(TWO.origin);
    expect((await target.run('import', 'one', ...words)).code).toBe(0);
    await connect(await registerApp(ONE.origin));

    // All that a thief of the file and of its secret has.
    const { header, pages } = await openSchoolFile(file, 'm'.repeat(32));
    expect(JSON.stringify(header)).not.toContain(String(source.environment.SECRET));
    const held = new Set<string>();
    for await (const page of pages()) for (const { payload } of page) held.add(payload);
    const stolen = header.secrets.map((secret) => deriveKey(secret, 'store-payload'));
    const opensIn = async (of: Deployment) => {
      const opened = new Map<string, number>();
      const database = new DatabaseSync(String(of.store.path), { readOnly: true, timeout: 5000 });
      for (const row of database.prepare('SELECT * FROM entry').all()) {
        const [id = '', kind = ''] = String(row.kind).split('.');
        for (const entry of [
          { kind, id: String(row.id) },
          { kind: String(row.kind), id: String(row.id) },
        ])
          try {
            openWithAny(stolen, { ...entry, payload: String(row.payload) });
            opened.set(id, (opened.get(id) ?? 0) + 1);
          } catch {}
      }
      database.close();
      return opened;
    };
    expect(held.size).toBeGreaterThan(10);
    // There, the one school that was exported; here, not even that one, since all of it is sealed again.
    expect([...(await opensIn(source)).values()]).toEqual([expect.any(Number)]);
    expect((await opensIn(target)).size).toBe(0);
    // Nor do its secrets lead to those of another one.
    const others = [...(await ids(source)).keys()].map((id) => schoolSecrets([header.secrets[0] ?? ''], id)[0]);
    expect(others).toHaveLength(2);
    for (const other of others) expect(header.secrets).not.toContain(other);
  }, 60_000);
});

it('the secret of a process is replaced for all schools at once, also for one that was imported', async () => {
  const source = await deployment('sqlite', { one: ONE });
  const one = await inUse(ONE.origin);
  const words = ['--secret', join(source.folder, 'move.secret')];
  const file = join(source.folder, 'one.school');
  expect((await source.run('export', 'one', '--to', file, ...words)).code).toBe(0);
  const process = await deployment('sqlite', { one: ONE, two: TWO }, source);
  const two = await inUse(TWO.origin);
  expect((await process.run('import', 'one', '--from', file, ...words)).code).toBe(0);

  const main = { store: process.store, admin: { hmac: { secret: { env: 'OPERATOR' } } } };
  process.writeMain({ ...main, secret: { env: 'NEXT' }, furtherSecrets: [{ env: 'SECRET' }] });
  await process.restart();
  const reseal = async () => {
    const given = ['secret', 'reseal', '--config', process.main, '--admin', process.admin, '--json'];
    return JSON.parse((await runToEnd(given, process.environment)).stdout) as object;
  };
  expect(await reseal()).toEqual({ resealed: expect.any(Number), unreadable: 0 });
  expect(await reseal()).toEqual({ resealed: 0, unreadable: 0 });
  process.writeMain({ ...main, secret: { env: 'NEXT' } });
  await process.restart();
  for (const { app, tokens, published } of [one, two]) {
    expect(await keys(new URL(app.server.issuer).origin)).toEqual(published);
    expect((await renew(app, tokens.refresh_token)).status).toBe(200);
  }
}, 60_000);

/** The frames of an export, with their lengths. */
function framesOf(whole: Buffer): readonly Buffer[] {
  const frames = [];
  for (let at = 36; at < whole.length; ) {
    const end = at + 4 + whole.readUInt32BE(at);
    frames.push(whole.subarray(at, end));
    at = end;
  }
  return frames;
}

describe('a school that is removed', () => {
  it('leaves nothing either once its name has begun another school for a day', async () => {
    const schools = await deployment('sqlite', { one: ONE, two: TWO });
    await inUse(ONE.origin);
    await inUse(TWO.origin);
    const before = await ids(schools);
    const at = (days: number) => () => Date.now() + days * 24 * 3_600_000 + 60_000;
    schools.write('one', undefined);
    await schools.reload();
    // Absent alone, it keeps what it has.
    await schools.restart(at(5));
    schools.write('one', ONE);
    await schools.reload();
    expect((await fetch(`${ONE.origin}/.well-known/jwks.json`)).status).toBe(200);
    const during = await ids(schools);
    expect([...before.keys()].every((id) => during.has(id))).toBe(true);
    expect(during.size).toBe(3);
    await schools.restart(at(5.5));
    expect((await ids(schools)).size).toBe(3);
    await schools.restart(at(6.5));
    await expect.poll(async () => (await ids(schools)).size, { timeout: 30_000 }).toBe(2);
    expect([...(await ids(schools)).keys()].filter((id) => before.has(id))).toHaveLength(1);
  }, 60_000);

  it('leaves nothing in any kind of store, and its id is never used again', async () => {
    for (const kind of stores.kinds) {
      const schools = await deployment(kind, { one: ONE, two: TWO });
      const one = await inUse(ONE.origin);
      const two = await inUse(TWO.origin);
      // An interaction, a pushed request and a client that strangers cause, and attempts that are counted.
      await createBrowser().open((await authorizationRequest(one.app)).url);
      await registerApp(ONE.origin);
      const before = await ids(schools);
      expect(before.size).toBe(2);

      expect(await schools.run('remove', 'one')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/The file of the school "one" is still there/),
      });
      schools.write('one', undefined);
      await schools.reload();
      const ran = await schools.run('remove', 'one');
      expect(ran).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Deleted \d\d+ entries of the school "one"\. 0 are left\.\n$/),
      });
      const after = await ids(schools);
      expect(after.size, kind).toBe(1);
      const [removed = ''] = [...before.keys()].filter((id) => !after.has(id));
      expect(removed).toMatch(/^[0-9a-f]{24}$/);
      expect(await found(schools, removed), kind).toEqual([]);
      expect(audited(schools)).toEqual(['school_removed one']);
      expect(await schools.run('remove', 'one')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/no school "one"/),
      });
      await isAsBefore(two);

      schools.write('one', ONE);
      await schools.reload();
      expect(await keys(ONE.origin)).not.toEqual(one.published);
      expect([...(await ids(schools)).keys()]).not.toContain(removed);
      expect(await statusOf(ONE.origin, one.tokens.access_token)).toBe(401);
      for (const started of open.splice(0).toReversed()) await started.close();
    }
  }, 240_000);
});
