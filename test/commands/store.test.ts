import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { openStore } from '../../src/storage/open.ts';
import type { Quota } from '../../src/storage/quota.ts';
import type { Entry, Mutation, NewEntry, Store } from '../../src/storage/store.ts';
import { type App, introspect, registerApp, revoke } from '../support/app.ts';
import { type Browser, createBrowser } from '../support/browser.ts';
import { runCommand } from '../support/command.ts';
import { connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { SAM, signIn } from '../support/member.ts';
import { type Ran, runToEnd } from '../support/operator.ts';
import { redisPresent } from '../support/redis.ts';
import { startStores, type TestStores } from '../support/store-files.ts';
import { startWorld, type World } from '../support/world.ts';

let stores: TestStores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores.close());

const copy = (from: string, to: string, ...more: readonly string[]): Promise<Ran> =>
  runToEnd(['store', 'copy', '--from', from, '--to', to, ...more], stores.environment);

describe('a gate that moves from store to store', () => {
  let world: World;
  let app: App;
  let browser: Browser;
  const overrides = { secret: { env: 'COURSEGATE_SECRET' }, store: {} };
  let from: string;

  beforeAll(async () => {
    const { settings, file } = await stores.empty('sqlite');
    [overrides.store, from] = [settings, file];
    // The names of databases are only known once they are there.
    world = await startWorld({ profile: 'A', environment: stores.environment, overrides });
    app = await registerApp(world.origin);
    browser = createBrowser();
    await signIn(browser, world.origin, SAM);
  });
  afterAll(() => world.close());

  const start = async () => (await connect(app)) as unknown as Tokens;
  const renew = (refreshToken: string) => token(app, refreshForm(app, refreshToken));
  const keys = async () => (await fetch(`${world.origin}/.well-known/jwks.json`)).json();
  /** The page without what is made for each answer. */
  const apps = async () =>
    (await browser.open(`${world.origin}/oauth/apps`)).text.replace(
      /(nonce|value)="[^"]*"|<bdi>(this minute|1 minute ago)<\/bdi>/g,
      '',
    );

  it('keeps every connection, every revocation and its keys', async () => {
    const revoked = await start();
    await revoke(app, revoked.refresh_token);
    const reused: { first: Tokens; current: Tokens }[] = [];
    for (const _ of stores.kinds) {
      const first = await start();
      let current = first;
      for (let times = 0; times < 3; times += 1) current = (await renew(current.refresh_token)).body;
      reused.push({ first, current });
    }
    let { access_token, refresh_token } = await start();
    const published = await keys();

    for (const [at, kind] of [...stores.kinds.slice(1), 'sqlite'].entries()) {
      const asked = refresh_token;
      const answer = await renew(asked);
      const page = await apps();
      expect(page).toMatch(/<main id="apps".*Test App/s);
      const target = await stores.empty(kind);
      await world.whileStopped(async () => {
        expect(await copy(from, target.file)).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(/^KIND +FROM +DIGEST +TO +DIGEST\n(?:\w+ +(\d+) +([0-9a-f]{16}) +\1 +\2\n)+$/),
          stderr: expect.stringContaining('The copy is whole.'),
        });
        overrides.store = target.settings;
        from = target.file;
      });
      expect(await apps(), kind).toBe(page);
      expect(await keys()).toEqual(published);
      expect(await statusOf(world.origin, access_token)).toBe(200);
      expect(await statusOf(world.origin, answer.body.access_token)).toBe(200);
      // A client that lost the answer gets the same one.
      expect((await renew(asked)).body).toEqual(answer.body);
      ({ access_token, refresh_token } = (await renew(answer.body.refresh_token)).body);
      expect(await statusOf(world.origin, access_token)).toBe(200);

      expect(await statusOf(world.origin, revoked.access_token)).toBe(401);
      expect(await introspect(app, revoked.access_token)).toEqual({ active: false });
      expect(await renew(revoked.refresh_token)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });

      const used = reused[at];
      expect(await statusOf(world.origin, used?.current.access_token ?? '')).toBe(200);
      expect(await renew(used?.first.refresh_token ?? '')).toMatchObject({ status: 400 });
      expect(await statusOf(world.origin, used?.current.access_token ?? '')).toBe(401);
    }
  }, 300_000);
});

describe('a copy', () => {
  const QUOTA: Quota = {
    name: 'copied',
    total: 5 * 2048,
    perClient: 5 * 2048,
    perNetwork: 5 * 2048,
    whenFull: 'evict',
  };
  const plain = (id: string, more: Partial<NewEntry> = {}): NewEntry => ({
    ...{ kind: 'Grant', id, payload: `{"of":"${id}"}`, expiresAt: undefined, references: { member: 'm-1' } },
    ...more,
  });
  const pending = (id: string): NewEntry => ({
    ...plain(id, { kind: 'Interaction', payload: 'x'.repeat(500), references: {}, expiresAt: inSeconds(3600) }),
    charge: { quota: QUOTA, network: '192.0.2.1', wider: '192.0.2.0/24', client: 'app' },
  });
  const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

  /** Runs work on the store of a configuration file, as a gate would. */
  const within = async <T>(file: string, work: (store: Store) => Promise<T>, clock = Date.now): Promise<T> => {
    const loaded = await loadConfig({ file, environment: stores.environment });
    const opened = await openStore(loaded.config.store, loaded, clock);
    try {
      return await work(opened.store);
    } finally {
      opened.counters.close();
      await opened.bus.close();
      await opened.store.close();
    }
  };
  const contents = (file: string) =>
    within(file, async (store) => {
      const found = new Map<string, Entry>();
      for (let from: string | undefined, first = true; first || from !== undefined; first = false) {
        const page = await store.scan(undefined, from, 500);
        for (const entry of page.entries) found.set(`${entry.kind} ${entry.id}`, entry);
        from = page.next;
      }
      return found;
    });
  const filled = (file: string, count: number) =>
    within(file, async (store) => {
      for (let at = 0; at < count; at += 100) {
        const entries = Array.from({ length: 100 }, (_, more) => plain(`${at + more}`));
        await store.commit(entries.map((entry) => ({ op: 'create', entry })));
      }
    });

  const pairs = () => stores.kinds.flatMap((kind) => [['sqlite', kind] as const, [kind, 'sqlite'] as const]);

  it('carries use, revision, references, expiry and what is charged, from and to every store', async () => {
    for (const [one, other] of pairs()) {
      const [from, to] = [(await stores.empty(one)).file, (await stores.empty(other)).file];
      await within(
        from,
        async (store) => {
          await store.commit([
            { op: 'create', entry: plain('used', { kind: 'AuthorizationCode' }) },
            { op: 'consume', kind: 'AuthorizationCode', id: 'used' },
            { op: 'create', entry: plain('gone', { expiresAt: inSeconds(-60) }) },
          ]);
        },
        () => Date.now() - 3_600_000,
      );
      await within(from, async (store) => {
        const all = { grant: 'g', member: 'm', client: 'c', uid: 'u' };
        await store.commit([
          { op: 'create', entry: plain('kept', { expiresAt: inSeconds(7200), references: all }) },
          { op: 'create', entry: plain('renewed') },
          { op: 'update', entry: plain('renewed', { payload: 'second' }), revision: 1 },
          { op: 'update', entry: plain('renewed', { payload: 'third' }), revision: 2 },
        ]);
        for (let at = 0; at < 5; at += 1) await store.commit([{ op: 'create', entry: pending(`p${at}`) }]);
      });
      expect(await copy(from, to), `${one} to ${other}`).toMatchObject({ code: 0 });
      const copied = await contents(to);
      expect(copied).toEqual(await contents(from));
      expect(copied.size).toBe(8);

      await within(to, async (store) => {
        expect(await store.get('AuthorizationCode', 'used')).toMatchObject({
          consumedAt: expect.toSatisfy((at: number) => Math.abs(at - inSeconds(-3600)) < 300),
        });
        expect(await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'used' }])).toBe(false);
        const next = plain('renewed', { payload: 'fourth' });
        expect(await store.commit([{ op: 'update', entry: next, revision: 2 }])).toBe(false);
        expect(await store.commit([{ op: 'update', entry: next, revision: 3 }])).toBe(true);
        for (const [name, value] of [
          ['grant', 'g'],
          ['member', 'm'],
          ['client', 'c'],
          ['uid', 'u'],
        ] as const) {
          expect(await store.findBy('Grant', name, value)).toMatchObject([{ payload: '{"of":"kept"}' }]);
        }
        // The quota is full: each more evicts the oldest.
        for (const at of [5, 6]) await store.commit([{ op: 'create', entry: pending(`p${at}`) }]);
        const left = await Promise.all([0, 1, 2, 3, 4, 5, 6].map((at) => store.get('Interaction', `p${at}`)));
        expect(left.map((entry) => entry !== undefined)).toEqual([false, false, true, true, true, true, true]);
        await store.commit([{ op: 'deleteBy', kind: 'Grant', name: 'grant', value: 'g' }]);
        expect(await store.get('Grant', 'kept')).toBeUndefined();
      });
    }
  }, 300_000);

  it('that is killed is finished by the next one, and no gate opens it until then', async () => {
    const from = (await stores.empty('sqlite')).file;
    await filled(from, 4000);
    for (const kind of stores.kinds) {
      const to = await stores.empty(kind);
      for (const [round, least] of [2, 1000, 2500, 4001].entries()) {
        const running = runCommand(['store', 'copy', '--from', from, '--to', to.file], stores.environment);
        let ended: unknown;
        void running.exited.then(() => {
          ended = `${kind}: ${running.stderr()}`;
        });
        await expect
          .poll(async () => ended ?? (await stores.count(to)) >= least, { interval: 10, timeout: 60_000 })
          .toBe(true);
        running.signal('SIGKILL');
        await running.exited;
        const opened = within(to.file, (store) => store.get('Grant', '0'));
        if (round < 3) await expect(opened, `${kind} ${least}`).rejects.toThrow(/unfinished copy/);
        else await opened.catch(() => {});
        if (round === 1) {
          // So many that some were copied already, and some were not.
          const some = Array.from({ length: 40 }, (_, more) => 100 * (1 + stores.kinds.indexOf(kind)) + more);
          await within(from, (store) =>
            store.commit(
              some.flatMap((at): Mutation[] => [
                { op: 'delete', kind: 'Grant', id: `${at}` },
                { op: 'put', entry: plain(`${at + 50}`, { payload: `changed for ${kind}` }) },
                { op: 'put', entry: plain(`new ${at}`) },
              ]),
            ),
          );
          const served = await runToEnd(['serve', '--config', to.file], { ...stores.environment, PORT: '0' });
          expect([served.code, served.stderr + served.stdout]).toEqual([1, expect.stringContaining('unfinished copy')]);
        }
      }
      const last = await copy(from, to.file);
      expect([last.code === 0 || /is a whole copy/.test(last.stderr), last.stderr]).toEqual([true, expect.anything()]);
      expect(await contents(to.file)).toEqual(await contents(from));
    }
  }, 300_000);

  // A store in SQLite cannot be written to meanwhile.
  it.skipIf(!redisPresent())(
    'of a store that is written to meanwhile says so, and is not whole',
    async () => {
      const kind = 'redis';
      const [from, to] = [await stores.empty(kind), await stores.empty('sqlite')];
      await filled(from.file, 1000);
      await within(from.file, async (store) => {
        let over = false;
        const running = copy(from.file, to.file, '--json').finally(() => {
          over = true;
        });
        for (let at = 0; !over; at += 1) {
          await store.commit([{ op: 'create', entry: plain(`late ${at}`) }]);
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
        const { code, stdout, stderr } = await running;
        expect([code, stderr]).toEqual([1, expect.stringContaining('The copy differs from its source')]);
        const { whole, kinds } = JSON.parse(stdout);
        expect([whole, kinds]).toEqual([false, [{ kind: 'Grant', from: expect.anything(), to: expect.anything() }]]);
        expect(kinds[0].from.count).toBeGreaterThan(kinds[0].to.count);
      });
      await expect(within(to.file, (store) => store.get('Grant', '0'))).rejects.toThrow(/unfinished copy/);
      expect(await copy(from.file, to.file)).toMatchObject({ code: 0 });
      expect(await contents(to.file)).toEqual(await contents(from.file));
    },
    180_000,
  );

  it.skipIf(!redisPresent())(
    'that another one has overtaken writes no more',
    async () => {
      const [from, to] = [await stores.empty('redis'), await stores.empty('redis')];
      await filled(from.file, 4000);
      const slow = runCommand(['store', 'copy', '--from', from.file, '--to', to.file], stores.environment);
      await expect.poll(() => stores.count(to), { interval: 10, timeout: 60_000 }).toBeGreaterThan(500);
      slow.signal('SIGSTOP');
      expect(await copy(from.file, to.file)).toMatchObject({ code: 0 });
      await within(to.file, (store) => store.commit([{ op: 'put', entry: plain('3999', { payload: 'by the gate' }) }]));
      slow.signal('SIGCONT');
      expect([await slow.exited, slow.stderr()]).toEqual([1, expect.stringContaining('Another copy to this target')]);
      expect(await within(to.file, (store) => store.get('Grant', '3999'))).toMatchObject({ payload: 'by the gate' });
    },
    180_000,
  );

  it.skipIf(!redisPresent())(
    'whose target fails says so, and is finished when it is back',
    async () => {
      const [from, to] = [await stores.empty('sqlite'), await stores.empty('redis')];
      await filled(from.file, 4000);
      const running = runCommand(['store', 'copy', '--from', from.file, '--to', to.file], stores.environment);
      await expect.poll(() => stores.count(to), { interval: 10, timeout: 60_000 }).toBeGreaterThan(500);
      await stores.redis?.kill();
      expect([await running.exited, running.stderr()]).toEqual([
        1,
        expect.stringMatching(
          /^A store failed, and the copy is unfinished: run the same command again\.\nCause: .+\nTry: /,
        ),
      ]);
      await stores.redis?.start();
      expect(await copy(from.file, to.file)).toMatchObject({ code: 0 });
      expect(await contents(to.file)).toEqual(await contents(from.file));
    },
    180_000,
  );

  it('is refused where it could lose or mix something', async () => {
    const [from, used] = [await stores.empty('sqlite'), await stores.empty('sqlite')];
    await filled(from.file, 100);
    await filled(used.file, 100);
    const before = await contents(used.file);
    const fresh = async (secret?: string) => (await stores.empty('sqlite', secret)).file;
    const refusal = async (source: string, target: string) => {
      const { code, stdout, stderr } = await copy(source, target);
      expect([code, stdout]).toEqual([1, '']);
      return stderr;
    };

    expect(await refusal(from.file, used.file)).toMatch(/neither empty nor an unfinished copy of this store/);
    expect(await contents(used.file)).toEqual(before);
    const other = await fresh('{ env: OTHER_SECRET }');
    expect(await refusal(from.file, other)).toMatch(/needs the same `secret` and `furtherSecrets`/);
    const wrong = stores.write(from.settings, '{ env: OTHER_SECRET }');
    expect(await refusal(wrong, other)).toMatch(/sealed with a secret that is not configured/);
    expect(await refusal(await fresh(), await fresh())).toMatch(/There is no store/);
    expect(await refusal(stores.write({ kind: 'memory' }), await fresh())).toMatch(/A store in memory/);
    await within(from.file, async () => {
      expect(await refusal(from.file, await fresh())).toMatch(/in use by another coursegate/);
    });
    const whole = await fresh();
    expect(await copy(from.file, whole)).toMatchObject({ code: 0 });
    expect(await refusal(from.file, whole)).toMatch(/is a whole copy of this store already/);
    expect(await refusal(from.file, from.file)).toMatch(/in use by another coursegate/);
    if (stores.kinds.includes('redis')) {
      const down = stores.write({ kind: 'redis', url: { env: 'NOWHERE' } });
      const { code, stderr } = await copy(from.file, down);
      expect([code, stderr]).toEqual([69, expect.stringMatching(/The store in Redis .* cannot be used/)]);
    }
  });
});
