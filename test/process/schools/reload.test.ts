import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../src/operations/log.ts';
import { registerApp } from '../../support/app.ts';
import { command, commandSignature } from '../../support/commands.ts';
import { connect, refreshForm, statusOf, token } from '../../support/connection.ts';
import { type Schools, startSchools } from '../../support/schools.ts';

const ONE = { profile: 'A', origin: 'https://one.example' };
const TWO = { profile: 'A', origin: 'https://two.example' };
const DAY = 86_400_000;

/** Far more than a loaded machine needs. */
const PATIENCE = { timeout: 30_000, interval: 50 };

describe('the schools of a process', () => {
  let schools: Schools;
  afterEach(() => schools.close());

  const metadata = async (origin: string) => {
    const answer = await fetch(`${origin}/.well-known/oauth-protected-resource`);
    return { status: answer.status, text: await answer.text() };
  };
  const nameAt = async (origin: string) => JSON.parse((await metadata(origin)).text).resource_name;
  const states = async () => {
    const { schools: all } = (await (await fetch(`${schools.admin}/schools`)).json()) as {
      schools: { name: string; state: string }[];
    };
    return Object.fromEntries(all.map(({ name, state }) => [name, state]));
  };

  it('are changed, added and removed one by one, while an app of another one goes on', async () => {
    schools = await startSchools({ schools: { one: { ...ONE, name: 'One' }, two: { ...TWO, name: 'Two' } } });
    const app = await registerApp(TWO.origin);
    const { access_token } = await connect(app);
    const statuses = new Set<number>();
    let stopped = false;
    const load = (async () => {
      while (!stopped) statuses.add(await statusOf(TWO.origin, access_token));
    })();

    expect(await nameAt(ONE.origin)).toBe('One');
    schools.write('one', { ...ONE, name: 'Another' });
    expect(await schools.reload()).toEqual({ kind: 'taken', keys: ['schools.one'] });
    expect(await nameAt(ONE.origin)).toBe('Another');

    schools.write('three', { profile: 'B', origin: 'https://three.example', account: { enabled: false } });
    expect(await schools.reload()).toEqual({ kind: 'taken', keys: ['schools.three'] });
    expect((await metadata('https://three.example')).status).toBe(200);
    expect(await states()).toEqual({ one: 'open', three: 'open', two: 'open' });

    schools.write('three', undefined);
    await schools.reload();
    expect(await metadata('https://three.example')).toEqual({ status: 421, text: '421 Misdirected Request\n' });

    schools.write('one', { ...ONE, origin: 'https://elsewhere.example' });
    await schools.reload();
    expect((await metadata(ONE.origin)).status).toBe(421);
    expect((await metadata('https://elsewhere.example')).status).toBe(200);

    stopped = true;
    await load;
    expect([...statuses]).toEqual([200]);
  });

  it('are at their new addresses also if the main file is changed at the same time', async () => {
    schools = await startSchools({ schools: { one: ONE, two: TWO } });
    expect((await metadata(ONE.origin)).status).toBe(200);
    schools.write('one', { ...ONE, origin: 'https://elsewhere.example' });
    schools.writeMain({ listen: { port: schools.port, admin: { port: 0 } }, log: { level: 'warn' } });
    expect(await schools.reload()).toMatchObject({ kind: 'taken' });
    expect((await metadata(ONE.origin)).status).toBe(421);
    expect((await metadata('https://elsewhere.example')).status).toBe(200);
  });

  it('keep their mistakes to themselves: the last valid state is served, also after it was let go', async () => {
    const idle = 500;
    const routes = [{ match: 'GET /x', upstream: 'nowhere' }];
    const worse = { profile: 'A', origin: 'https://worse.example', routes };
    schools = await startSchools({
      schools: { one: { ...ONE, name: 'One' }, two: TWO, bad: 'no: [yaml', worse },
      idle,
    });
    const unavailable = await fetch(`${schools.admin}/schools/worse/readyz`);
    expect([unavailable.status, await unavailable.text()]).toEqual([503, 'unavailable\n']);
    expect(Object.fromEntries(unavailable.headers)).toMatchObject({
      'content-type': 'text/plain',
      connection: 'close',
    });
    expect(await nameAt(ONE.origin)).toBe('One');
    schools.write('one', { ...ONE, name: 'Another', routes });
    expect(await schools.reload()).toMatchObject({ kind: 'taken' });
    expect(await states()).toMatchObject({ bad: 'refused', one: 'refused', two: 'idle' });
    await expect
      .poll(async () => (await (await fetch(`${schools.admin}/metrics`)).text()).includes('school="one"'), PATIENCE)
      .toBe(false);
    expect(await nameAt(ONE.origin)).toBe('One');
    const ready = await fetch(`${schools.admin}/readyz?verbose`);
    expect(ready.status).toBe(200);
    expect((await ready.text()).split('\n')[0]).toBe('[+]config ok: 4 schools, 3 with mistakes');
    schools.write('one', { ...ONE, name: 'Corrected' });
    await schools.reload();
    expect(await nameAt(ONE.origin)).toBe('Corrected');
  });

  it('are let go when nobody asks for them, and know what they knew when somebody does', async () => {
    schools = await startSchools({ schools: { one: ONE, two: TWO }, idle: 400 });
    const app = await registerApp(ONE.origin);
    const tokens = await connect(app);
    expect(await states()).toMatchObject({ one: 'open' });
    await expect.poll(states, PATIENCE).toEqual({ one: 'idle', two: 'idle' });
    expect(await statusOf(ONE.origin, tokens.access_token)).toBe(200);
    expect((await token(app, refreshForm(app, tokens.refresh_token))).status).toBe(200);
  });

  it('begin anew under a name whose school was removed, and never know what that one knew', async () => {
    schools = await startSchools({ schools: { one: ONE, two: TWO } });
    const app = await registerApp(ONE.origin);
    const { access_token } = await connect(app);
    const keys = async () => (await fetch(`${ONE.origin}/.well-known/jwks.json`)).text();
    const before = await keys();

    // A mistake that is undone within a day changes nothing.
    schools.write('one', undefined);
    await schools.reload();
    schools.write('one', ONE);
    await schools.reload();
    expect(await statusOf(ONE.origin, access_token)).toBe(200);

    schools.write('one', undefined);
    await schools.reload();
    await schools.restart(() => Date.now() + DAY + 1000);
    schools.write('one', ONE);
    await schools.reload();
    expect(await statusOf(ONE.origin, access_token)).toBe(401);
    expect(await keys()).not.toBe(before);
  });

  it('are named with file, line and column by `check`, and chosen by --school', async () => {
    schools = await startSchools({ schools: { one: ONE, two: { ...TWO, aliases: { [ONE.origin]: 'redirect' } } } });
    const run = (...words: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['src/main.ts', ...words], { encoding: 'utf8' });
      return { status, stdout, stderr };
    };
    const clash = run('check', schools.main);
    expect(clash.status).toBe(78);
    expect(clash.stderr).toMatch(
      /schools\/two\.yaml:1:\d+ {2}origin: one\.example is an address of the school "one" already/,
    );
    schools.write('two', { ...TWO, routes: [{ match: 'GET /x', upstream: 'nowhere' }], store: { kind: 'memory' } });
    const mistaken = run('check', schools.main);
    expect(mistaken.stderr).toMatch(/schools\/two\.yaml:1:\d+ {2}routes\[0\]\.upstream: /);
    expect(mistaken.stderr).toContain('store: belongs in the main file');
    const pages = { origin: 'https://sign-in.two.example' };
    schools.write('two', {
      ...TWO,
      pages,
      aliases: { 'https://b.two.example': 'serve', 'https://c.two.example': 'redirect' },
    });
    const served = run('check', schools.main);
    expect(served.status).toBe(78);
    expect(served.stderr).toMatch(
      /schools\/two\.yaml:1:\d+ {2}aliases.*b\.two\.example.*: must be `redirect`: with `pages\.origin`/,
    );
    expect(served.stderr).not.toContain('c.two.example:');
    schools.write('two', { ...TWO, pages, aliases: { 'https://c.two.example': 'redirect' } });
    expect(run('check', schools.main)).toMatchObject({ status: 0 });
    schools.write('two', TWO);
    const valid = run('check', schools.main);
    expect(valid.status).toBe(0);
    // The main file itself serves nothing, and need not.
    expect(valid.stderr).not.toContain('routes: is empty');
    const print = run('config', 'print', 'name', '--config', schools.main, '--school', 'two', '--json');
    expect(JSON.parse(print.stdout)).toEqual({ name: 'Harbour Lane School' });
    expect(run('config', 'print', '--config', schools.main).stderr).toContain('choose one with --school');
  }, 120_000);

  it('are commanded one by one, and no command for one is one for another', async () => {
    const environment = {
      OPERATOR: 'operator-of-the-process-0123456789ab',
      OWN: 'operator-of-school-one-0123456789ab',
    };
    schools = await startSchools({
      schools: { one: { ...ONE, admin: { hmac: { secret: { env: 'OWN' } } } }, two: TWO },
      main: { admin: { hmac: { secret: { env: 'OPERATOR' } } } },
      environment,
      log: createLog('silent', 2),
    });
    const ask = async (path: string, secret: string, signedPath = path) => {
      const field = commandSignature(signedPath, { method: 'GET', secret });
      return (await fetch(schools.admin + path, { headers: { 'coursegate-signature': field } })).status;
    };
    expect(await ask('/schools/one/keys', environment.OPERATOR)).toBe(200);
    expect(await ask('/schools/two/keys', environment.OPERATOR)).toBe(200);
    expect(await ask('/schools/one/keys', environment.OWN)).toBe(200);
    expect(await ask('/schools/two/keys', environment.OWN)).toBe(401);
    expect(await ask('/schools/two/keys', environment.OPERATOR, '/schools/one/keys')).toBe(401);
    expect(await ask('/schools/two/keys', environment.OPERATOR, '/keys')).toBe(401);
    expect(await ask('/schools/none/keys', environment.OPERATOR)).toBe(404);
    expect(await ask('/keys', environment.OPERATOR)).toBe(404);
    // What the process stores for itself is re-encrypted by its own operators.
    expect((await command(schools.admin, '/store/reseal', { secret: environment.OWN })).status).toBe(401);
    const store = (step: string, given?: object | string, method = 'POST') => {
      const body = typeof given === 'object' ? JSON.stringify(given) : given;
      const sent = { method, secret: environment.OPERATOR, ...(body === undefined ? {} : { body }) };
      return command(schools.admin, `/store/${step}`, sent);
    };
    const resealed = await store('reseal');
    expect([resealed.status, resealed.headers.get('cache-control')]).toEqual([200, 'no-store']);

    const id = '0123456789abcdef01234567';
    for (const [step, given, status] of [
      ['none', {}, 404],
      ['constructor', {}, 404],
      ['move', '{', 404],
      ['move', { name: 'none' }, 404],
      ['move', { name: 'One' }, 400],
      ['scan', { id: id.slice(1) }, 400],
      ['scan', { id, from: 5 }, 400],
      ['resume', { name: 'one', reason: 'x'.repeat(201) }, 400],
      ['resume', { name: 'one', reason: 'x'.repeat(200) }, 409],
      ['remove', { name: 'one' }, 409],
      ['restore', { id, sealed: 'a\0b' }, 400],
      ['restore', { id, sealed: 'x' }, 409],
      ['take', { name: 'one', id, sealed: 'x' }, 409],
    ] as const)
      expect((await store(step, given)).status, JSON.stringify([step, given])).toBe(status);
    expect((await store('reseal', undefined, 'PUT')).status).toBe(404);
  });
});
