import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/passwords/password-hash.ts';
import { BRIDGE_SECRET, type BridgeBackend, startBridgeBackend } from '../support/bridge-backend.ts';
import { createBrowser } from '../support/browser.ts';
import type { World } from '../support/world.ts';
import { DEMANDS, expectUnmet, now, open, type Parameters, startGate, timesOf, UNKNOWN } from './support/auth-time.ts';
import { type FormBackend, startFormBackend } from './support/form-backend.ts';
import { type ScriptedIdp, startScriptedIdp } from './support/scripted-idp.ts';
import { startWebhookBackend, WEBHOOK_SECRET, type WebhookBackend } from './support/webhook-backend.ts';

const folder = mkdtempSync(join(tmpdir(), 'coursegate-auth-time-'));
let bridge: BridgeBackend;
let idp: ScriptedIdp;
let form: FormBackend;
let webhook: WebhookBackend;
beforeAll(async () => {
  [bridge, idp, form, webhook] = await Promise.all([
    startBridgeBackend(),
    startScriptedIdp(),
    startFormBackend(),
    startWebhookBackend(),
  ]);
});
afterAll(async () => {
  await Promise.all([bridge.close(), idp.close(), form.close(), webhook.close()]);
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  bridge.says = {};
  idp.reset();
});

describe.each(['directory', 'database', 'webhook', 'form'] as const)(
  'a sign-in with a password at the gate (%s)',
  (kind) => {
    /** Milliseconds by which the gate's clock is ahead. */
    let ahead = 0;
    let world: World;
    const [username, password] = ['sam', `sam's & "own" pässword`];
    beforeAll(async () => {
      const attempts = { address: 'unlimited' };
      const hash = await hashPassword(password);
      const file = join(folder, 'members.yaml');
      writeFileSync(file, JSON.stringify({ members: [{ id: 7, login: username, password: hash }] }));
      const database = join(folder, 'members.db');
      if (kind === 'database') {
        const sqlite = new DatabaseSync(database);
        sqlite.exec('create table users (id integer, name text, hash text)');
        sqlite.prepare('insert into users values (7, ?, ?)').run(username, hash);
        sqlite.close();
      }
      webhook.says(() => ({ body: '{"sub":"7"}' }));
      const login = {
        directory: { file },
        database: {
          url: { env: 'MEMBERS' },
          query: 'select id, hash from users where name = $1',
        },
        webhook: {
          upstream: 'accounts',
          path: '/login',
          secret: { env: 'WEBHOOK_SECRET' },
        },
        form: {
          upstream: 'old',
          page: '/login',
          fields: { username: 'user', password: 'pass' },
          extra: { go: 'Go' },
          success: { status: [302] },
          whoami: { path: '/me' },
        },
      }[kind];
      world = await startGate(
        {
          login: { kind, attempts, ...login },
          upstreams: { accounts: { url: webhook.url }, old: { url: form.url } },
        },
        {
          clock: () => Date.now() + ahead,
          environment: { MEMBERS: `sqlite:${database}`, WEBHOOK_SECRET },
        },
      );
    });
    afterAll(() => world.close());

    it.each(DEMANDS)('is requested again because of %s, and has a time', async (_name, parameters, metadata) => {
      const browser = createBrowser();
      ahead = -60_000;
      const before = now() - 60;
      const first = await open(world, browser);
      const times = await timesOf(first, browser, await browser.submit(first.page, { username, password }));
      expect(times.introspected).toBeGreaterThanOrEqual(before);
      ahead = 0;
      const second = await open(world, browser, parameters, metadata);
      const isFresh = parameters.prompt === 'login' || parameters.max_age === '0';
      expect(second.page.text).toContain(isFresh ? '<main id="sign-in">' : '<main id="consent">');
      const consent = isFresh ? await browser.submit(second.page, { username, password }) : second.page;
      const { introspected, inIdToken } = await timesOf(second, browser, consent);
      if (isFresh) expect(introspected).toBeGreaterThanOrEqual(before + 60);
      else expect(introspected).toBe(times.introspected);
      expect(introspected).toBeLessThanOrEqual(now());
      expect(inIdToken).toBe(introspected);
    });
  },
);

describe('the bridge', () => {
  let world: World;
  const signedIn = async () => {
    const browser = createBrowser();
    await browser.open(`${bridge.url}/enter`, () => false);
    return browser;
  };
  beforeAll(async () => {
    const login = {
      kind: 'bridge',
      url: `${bridge.url}/sso`,
      secret: { env: 'BRIDGE_SECRET' },
    };
    world = await startGate({ login }, { environment: { BRIDGE_SECRET } });
  });
  afterAll(() => world.close());

  it('reports no time if the response has none', async () => {
    const browser = await signedIn();
    const first = await open(world, browser);
    expect(await timesOf(first, browser, first.page)).toEqual(UNKNOWN);
  });

  it.each(DEMANDS)('cannot satisfy %s with such a response', async (_name, parameters, metadata) => {
    const browser = await signedIn();
    await expectUnmet(browser, (await open(world, browser, parameters, metadata)).page);
  });

  it('receives prompt=login and max_age, and reports the time in the response', async () => {
    const browser = await signedIn();
    const at = now() + 1;
    bridge.says = { auth_time: String(at) };
    const asked = await open(world, browser, { prompt: 'login', max_age: '600' });
    expect(bridge.asked?.get('prompt')).toBe('login');
    expect(bridge.asked?.get('max_age')).toBe('600');
    expect(await timesOf(asked, browser, asked.page)).toEqual({ introspected: at, inIdToken: at });
    const plain = await open(world, browser);
    expect(await timesOf(plain, browser, plain.page)).toEqual({ introspected: at, inIdToken: undefined });
  });

  it('is asked again when the response has an old time', async () => {
    const browser = await signedIn();
    bridge.says = { auth_time: String(now() - 3600) };
    for (const parameters of [{ prompt: 'login' }, { max_age: '600' }] as Parameters[]) {
      expect((await open(world, browser, parameters)).page.text).toContain('<main id="login">');
    }
  });
});

describe('an OpenID provider', () => {
  let world: World;
  beforeAll(async () => {
    const provider = { id: 'idp', name: 'School', issuer: idp.issuer, clientId: 'gate' };
    world = await startGate({ login: { kind: 'oidc', providers: [provider] } });
  });
  afterAll(() => world.close());

  it('reports no time without auth_time', async () => {
    const browser = createBrowser();
    const first = await open(world, browser);
    expect(idp.asked.has('max_age')).toBe(false);
    expect(await timesOf(first, browser, first.page)).toEqual(UNKNOWN);
  });

  it.each(DEMANDS)('cannot satisfy %s without auth_time', async (_name, parameters, metadata) => {
    const browser = createBrowser();
    await expectUnmet(browser, (await open(world, browser, parameters, metadata)).page);
  });

  it('is asked for the time whenever it is needed, and the time is reported', async () => {
    for (const [name, parameters, metadata] of DEMANDS) {
      const browser = createBrowser();
      // A sign-in without any wish comes first, so that the gate has a session for this browser.
      idp.claims = {};
      await open(world, browser);
      const at = now() + 1;
      idp.claims = { auth_time: at };
      const asked = await open(world, browser, parameters, metadata);
      const maxAge = { 'prompt=login': '0', 'max_age=0': '0', require_auth_time: '315360000' }[name] ?? '600';
      expect({ name, maxAge: idp.asked.get('max_age') }).toEqual({ name, maxAge });
      expect(await timesOf(asked, browser, asked.page)).toEqual({ introspected: at, inIdToken: at });
    }
  });
});
