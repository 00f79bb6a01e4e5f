import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import { bearer, introspect, revoke } from '../support/app.ts';
import { type ConnectedMember, type CookieSchool, connectWith, startCookieSchool } from '../support/cookie-school.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

const overridesFor = (url: string, credential: object = {}) => ({
  upstreams: {
    school: {
      url,
      identity: [],
      credential: { kind: 'session', cookies: ['school_session', 'remember_*'], ...credential },
    },
  },
  routes: [{ match: '* /api/legacy/**', upstream: 'school', anonymous: 'refuse' }],
  mcp: {
    resources: [],
    prompts: [],
    tools: [
      {
        name: 'my_things',
        title: 'Mine',
        description: 'Mine.',
        scopes: ['courses:read'],
        get: { upstream: 'school', path: '/api/legacy/things' },
      },
      {
        name: 'change_things',
        title: 'Change',
        description: 'Change.',
        scopes: ['courses:read'],
        route: 'POST /api/legacy/things',
      },
    ],
  },
});

const ask = (gate: { origin: string }, { token }: Pick<ConnectedMember, 'token'>, init: RequestInit = {}) =>
  fetch(`${gate.origin}/api/legacy/things`, {
    redirect: 'manual',
    ...init,
    headers: { ...bearer(token), ...init.headers },
  });

const ofMember = async (answer: Response) => {
  const text = await answer.text();
  return answer.status === 200 ? JSON.parse(text).member : answer.status;
};

describe('the member’s own session at a backend', () => {
  let school: CookieSchool;
  let world: World;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-session-'));
    school = await startCookieSchool();
    world = await startWorld({
      profile: 'A',
      data: folder,
      log: createLog('info', openSync(join(folder, 'log'), 'w')),
      overrides: overridesFor(school.url, { csrf: { cookie: 'xsrf', header: 'X-XSRF-TOKEN', path: '/csrf' } }),
    });
  });
  afterAll(async () => {
    await world.close();
    await school.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    Object.assign(school, { rotates: false, nobody: 'status', hold: undefined });
  });
  const log = () => readFileSync(join(folder, 'log'), 'utf8');
  /** How often the log says that a connection ended this way. */
  const ended = (grant: string) =>
    log()
      .split('\n')
      .filter((line) => line.includes('"event.action":"backend_session_over"') && line.includes(grant)).length;
  const connected = (member: string, more: Record<string, string> = {}) => {
    const session = school.signIn(member);
    return connectWith(world.origin, { school_session: session, ...more }).then((one) => ({ ...one, session }));
  };

  it('is sent with an app’s requests, each member’s own, without other cookies of the browser or the app', async () => {
    const ann = await connected('ann', { remember_1: 'yes', theme: 'dark', other: 'x' });
    const bob = await connected('bob');
    expect(await ofMember(await ask(world, ann, { headers: { cookie: `school_session=${bob.session}` } }))).toBe('ann');
    expect(school.cookies().at(-1)).toBe(`school_session=${ann.session}; remember_1=yes`);
    expect(await ofMember(await ask(world, bob))).toBe('bob');
    expect(school.cookies().at(-1)).toBe(`school_session=${bob.session}`);
    const { rawHeaders } = school.requests.at(-1) ?? { rawHeaders: [] };
    expect(rawHeaders.join('\n')).not.toContain(bob.token);
  });

  it('is mentioned on the consent page', async () => {
    const { consent } = await connected('ann');
    expect(consent).toContain('this app acts with your own sign-in at <bdi>Harbour Lane School</bdi>');
  });

  it('is mentioned on the page about the connected app', async () => {
    const { session } = await connected('eve');
    const open = async (path: string) =>
      (await fetch(world.origin + path, { headers: { cookie: `school_session=${session}` } })).text();
    const [, path = ''] = /<h2><a href="([^"]*)"/.exec(await open('/oauth/apps')) ?? [];
    const shown = await open(path);
    expect(shown).toContain('It acts with your own sign-in at <bdi>Harbour Lane School</bdi>');
    expect(shown).not.toContain(session);
  });

  it('is never shown to an app, nor is any cookie that the backend sets', async () => {
    school.rotates = true;
    const ann = await connected('ann');
    const answer = await ask(world, ann);
    expect([...answer.headers].join('\n')).not.toMatch(/set-cookie|sess-/);
    expect(await answer.text()).not.toContain('sess-');
  });

  it('follows the backend’s cookie changes, in sequential and in concurrent requests', async () => {
    school.rotates = true;
    const ann = await connected('ann');
    for (let round = 0; round < 5; round += 1) expect(await ofMember(await ask(world, ann))).toBe('ann');
    expect(new Set(school.cookies().slice(-5)).size).toBe(5);

    // All are sent with the same cookie, which only the first to arrive can use; the others are retried with the new
    // one.
    let go = () => {};
    school.hold = new Promise((resolve) => {
      go = resolve;
    });
    const before = school.cookies().length;
    const under = Promise.all(Array.from({ length: 5 }, () => ask(world, ann).then(ofMember)));
    await expect.poll(() => school.cookies().length).toBe(before + 5);
    go();
    expect(await under).toEqual(Array.from({ length: 5 }, () => 'ann'));
    expect(await ofMember(await ask(world, ann))).toBe('ann');
  });

  it('repeats a request with its body when the cookie changed in the meantime', async () => {
    school.rotates = true;
    const ann = await connected('ann');
    await (await ask(world, ann, { method: 'POST', body: '{"first":1}' })).text();
    let go = () => {};
    school.hold = new Promise((resolve) => {
      go = resolve;
    });
    const before = school.cookies().length;
    const post = (n: number) =>
      ask(world, ann, { method: 'POST', headers: { 'content-type': 'application/json' }, body: `{"n":${n}}` });
    const under = Promise.all([post(1), post(2)].map(async (one) => (await (await one).json()) as { body: string }));
    await expect.poll(() => school.cookies().length).toBe(before + 2);
    go();
    expect((await under).map(({ body }) => body)).toEqual(['{"n":1}', '{"n":2}']);
  });

  it('is sent with the backend’s CSRF token, and with the site’s own Origin', async () => {
    const ann = await connected('ann');
    const answer = await ask(world, ann, {
      method: 'POST',
      headers: { origin: 'https://app.example', referer: 'https://app.example/x', 'x-xsrf-token': 'forged' },
      body: '{}',
    });
    expect(await answer.json()).toMatchObject({
      member: 'ann',
      origin: world.origin,
      referer: `${world.origin}/`,
      token: 'token-of-ann=',
    });
    expect(school.cookies().at(-1)).toBe(`school_session=${ann.session}; xsrf=token-of-ann%3D`);
    const read = await ask(world, ann);
    expect(await read.json()).toMatchObject({ token: '', origin: '' });
  });

  it.each(['status', 'forbidden', 'redirect'] as const)(
    'ends the connection with a challenge when it is over, as reported by %s',
    async (nobody) => {
      school.nobody = nobody;
      const ann = await connected('ann');
      const other = await connected('ann');
      expect(await ofMember(await ask(world, ann))).toBe('ann');
      school.signOut(ann.session);
      const before = ended('"user.id":"ann"');
      const answer = await ask(world, ann, { headers: { origin: 'https://app.example' } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer error="invalid_token", error_description="the member must sign in again", resource_metadata="${world.origin}/.well-known/oauth-protected-resource"`,
      );
      expect(await answer.json()).toEqual({
        error: 'invalid_token',
        error_description: 'the member must sign in again',
      });
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(ended('"user.id":"ann"')).toBe(before + 1);
      expect(await introspect(ann.app, ann.token)).toEqual({ active: false });
      const sent = school.requests.length;
      expect((await ask(world, ann)).status).toBe(401);
      expect(school.requests.length).toBe(sent);
      // The member's other app has a separate session.
      expect(await ofMember(await ask(world, other))).toBe('ann');
    },
  );

  it('ends the connection once for many concurrent requests, without counting as a failure of the backend', async () => {
    const ann = await connected('ann');
    school.signOut(ann.session);
    const before = ended(ann.app.client.client_id);
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(world, ann)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
    // Lines are written after the answer.
    await expect.poll(() => ended(ann.app.client.client_id)).toBe(before + 1);
    expect(await ofMember(await ask(world, await connected('bob')))).toBe('bob');
  });

  it('ends with the grant: the next request is refused with 401 and nothing is sent', async () => {
    const ann = await connected('ann');
    expect(await ofMember(await ask(world, ann))).toBe('ann');
    await revoke(ann.app, ann.refreshToken);
    const sent = school.requests.length;
    expect((await ask(world, ann)).status).toBe(401);
    expect(school.requests.length).toBe(sent);
  });

  it('is not stored again by a response that arrives after the grant has ended', async () => {
    school.rotates = true;
    const ann = await connected('ann');
    let go = () => {};
    school.hold = new Promise((resolve) => {
      go = resolve;
    });
    const before = school.cookies().length;
    const under = ask(world, ann);
    await expect.poll(() => school.cookies().length).toBe(before + 1);
    await revoke(ann.app, ann.refreshToken);
    go();
    await (await under).text();
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(folder, 'coursegate.db'), { readOnly: true });
    const kept = database.prepare("SELECT count(*) AS n FROM entry WHERE kind = 'BackendSession'").get() as {
      n: number;
    };
    const grants = database.prepare("SELECT count(*) AS n FROM entry WHERE kind = 'Grant'").get() as { n: number };
    database.close();
    expect(kept.n).toBe(grants.n);
    expect(kept.n).toBeGreaterThan(0);
  });

  const callTool = (ann: ConnectedMember, name: string, args: object = {}) =>
    fetch(`${world.origin}/mcp`, {
      method: 'POST',
      headers: {
        ...bearer(ann.token),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    });

  it('is used by tools, and a tool call returns the challenge when it is over', async () => {
    const ann = await connected('ann');
    const call = () => callTool(ann, 'my_things');
    expect(await (await call()).text()).toContain('\\"member\\":\\"ann\\"');
    school.signOut(ann.session);
    const over = await call();
    expect(over.status).toBe(401);
    expect(over.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(over.headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource/mcp"');
  });

  it('makes a call with an idempotency key return the challenge when it is over, and stores no key', async () => {
    const { DatabaseSync } = await import('node:sqlite');
    const keys = () => {
      const database = new DatabaseSync(join(folder, 'coursegate.db'), { readOnly: true });
      const { n } = database.prepare("SELECT count(*) AS n FROM entry WHERE kind = 'ToolCall'").get() as { n: number };
      database.close();
      return n;
    };
    const ann = await connected('ann');
    const before = keys();
    const done = await (await callTool(ann, 'change_things', { idempotencyKey: 'wish-no-1' })).text();
    expect(done).toContain('\\"member\\":\\"ann\\"');
    expect(keys()).toBe(before + 1);
    school.signOut(ann.session);
    const over = await callTool(ann, 'change_things', { idempotencyKey: 'wish-no-2' });
    expect(over.status).toBe(401);
    expect(over.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(keys()).toBe(before + 1);
  });

  it('is used by the Account API, which returns the challenge when it is over', async () => {
    const ann = await connected('ann');
    const query = () =>
      fetch(`${world.origin}/account/graphql`, {
        method: 'POST',
        headers: { ...bearer(ann.token), 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ viewer { orders(first: 1) { nodes { id } } } }' }),
      });
    expect((await query()).status).toBe(200);
    expect(school.requests.at(-1)?.values('cookie')).toEqual([`school_session=${ann.session}`]);
    school.signOut(ann.session);
    const over = await query();
    expect(over.status).toBe(401);
    expect(over.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(over.headers.get('www-authenticate')).toContain('scope="account:read"');
  });

  it('ends the connection on first use when it is missing from the store', async () => {
    const ann = await connectWith(world.origin, { school_session: school.signIn('ann') });
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(folder, 'coursegate.db'));
    database.exec("DELETE FROM entry WHERE kind = 'BackendSession'");
    database.close();
    const sent = school.requests.length;
    expect((await ask(world, ann)).status).toBe(401);
    expect(school.requests.length).toBe(sent);
    expect(log()).toContain('backend_session_missing');
  });

  it('is not readable in the files of the store or in the log', async () => {
    const secret = 'remembered-for-ever-and-secret';
    const ann = await connected('ann', { remember_me: secret });
    await (await ask(world, ann)).text();
    expect(school.cookies().at(-1)).toContain(secret);
    const written = readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'latin1'))
      .join('');
    for (const value of [ann.session, secret, Buffer.from(secret).toString('base64url').slice(0, 20)]) {
      expect(written).not.toContain(value);
    }
  });

  it('is not sent with pages of the site', async () => {
    const ann = await connected('ann');
    await (await fetch(`${world.origin}/api/legacy-page`, { headers: bearer(ann.token) })).text();
    expect(school.requests.at(-1)?.values('cookie')).toEqual([]);
  });
});

describe('a stored session', () => {
  let school: CookieSchool;
  let world: World;
  let folder: string;
  let ahead = 0;
  const start = async (check: string) => {
    await world?.restart(overridesFor(school.url, { check }));
  };
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-kept-'));
    school = await startCookieSchool();
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now() + ahead,
      data: folder,
      log: createLog('info', openSync(join(folder, 'log'), 'w')),
      overrides: overridesFor(school.url),
    });
  });
  afterAll(async () => {
    await world.close();
    await school.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    Object.assign(school, { whoami: 'well', nobody: 'status', denies: undefined, rotates: false });
    ahead = 0;
  });
  const connected = (member: string) => {
    const session = school.signIn(member);
    return connectWith(world.origin, { school_session: session }).then((one) => ({ ...one, session }));
  };
  const looks = () => school.requests.filter(({ target }) => target === '/api/me').length;

  it('ends the connection when it has passed to another member', async () => {
    await start('0s');
    const ann = await connected('ann');
    expect(await ofMember(await ask(world, ann))).toBe('ann');
    school.passTo(ann.session, 'bob');
    const shown = school.cookies().length;
    const answer = await ask(world, ann);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
    expect(school.cookies()).toHaveLength(shown);
    expect(readFileSync(join(folder, 'log'), 'utf8')).toContain('backend_session_of_another');
    school.passTo(ann.session, 'ann');
    expect((await ask(world, ann)).status).toBe(401);
  });

  it('is not sent while the backend cannot say whose it is, and is sent again when it can', async () => {
    await start('0s');
    const ann = await connected('ann');
    const shown = school.cookies().length;
    school.whoami = 'ill';
    const answer = await ask(world, ann);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    expect(school.cookies()).toHaveLength(shown);
    school.whoami = 'well';
    expect(await ofMember(await ask(world, ann))).toBe('ann');
  });

  it('follows a cookie change in the response to that check', async () => {
    await start('0s');
    const ann = await connected('ann');
    school.whoami = 'rotating';
    for (let round = 0; round < 3; round += 1) expect(await ofMember(await ask(world, ann))).toBe('ann');
    expect(school.cookies().at(-1)).not.toContain(ann.session);
  });

  it.each([
    ['by default', 'status', undefined],
    ['with 403 among the statuses', 'status', { statuses: [401, 403] }],
    ['that is a redirect to the sign-in page', 'redirect', undefined],
  ] as const)('outlives a refusal for a missing permission %s', async (_, denies, over) => {
    await world.restart(overridesFor(school.url, { check: '1m', ...(over === undefined ? {} : { over }) }));
    school.rotates = true;
    const ann = await connected('ann');
    school.denies = denies;
    const refused = await ask(world, ann);
    expect(refused.status).toBe(denies === 'status' ? 403 : 302);
    school.denies = undefined;
    expect(await ofMember(await ask(world, ann))).toBe('ann');
  });

  it('is asked about at most once in five seconds of refusals, and by the first refusal after it is over', async () => {
    await start('1h');
    const ann = await connected('ann');
    expect(await ofMember(await ask(world, ann))).toBe('ann');
    const before = looks();
    school.denies = 'status';
    const concurrent = await Promise.all([ask(world, ann), ask(world, ann), ask(world, ann)]);
    expect(concurrent.map(({ status }) => status)).toEqual([403, 403, 403]);
    ahead = 4900;
    expect((await ask(world, ann)).status).toBe(403);
    expect(looks()).toBe(before + 1);
    ahead = 10_000;
    expect((await ask(world, ann)).status).toBe(403);
    expect(looks()).toBe(before + 2);
    school.signOut(ann.session);
    school.nobody = 'forbidden';
    ahead = 20_000;
    expect((await ask(world, ann)).status).toBe(401);
    expect(await introspect(ann.app, ann.token)).toEqual({ active: false });
  });

  it('is ended by a 403 when it is another member’s by now', async () => {
    await start('1h');
    const ann = await connected('ann');
    expect(await ofMember(await ask(world, ann))).toBe('ann');
    school.passTo(ann.session, 'bob');
    school.denies = 'status';
    expect((await ask(world, ann)).status).toBe(401);
    expect(readFileSync(join(folder, 'log'), 'utf8').match(/backend_session_of_another/g)?.length).toBeGreaterThan(0);
  });

  it.each(['status', 'redirect'] as const)(
    'neither ends nor shows a refusal (%s) while the backend cannot say whose it is',
    async (denies) => {
      await start('1h');
      const ann = await connected('ann');
      expect(await ofMember(await ask(world, ann))).toBe('ann');
      Object.assign(school, { whoami: 'ill', denies });
      const answer = await ask(world, ann);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
      expect(await answer.text()).not.toContain('forbidden');
      Object.assign(school, { whoami: 'well', denies: undefined });
      expect(await ofMember(await ask(world, ann))).toBe('ann');
    },
  );

  it('is checked once per configured interval', async () => {
    await start('1m');
    const ann = await connected('ann');
    const before = looks();
    for (let round = 0; round < 3; round += 1) expect(await ofMember(await ask(world, ann))).toBe('ann');
    expect(looks()).toBe(before + 1);
    ahead = 61_000;
    expect(await ofMember(await ask(world, ann))).toBe('ann');
    expect(looks()).toBe(before + 2);
  });
});

describe.skipIf(!redisPresent())('the member’s own session, shared by two gates on Redis', () => {
  let redis: RedisServer;
  let school: CookieSchool;
  let world: World;
  let replica: World;
  beforeAll(async () => {
    redis = await startRedis();
    school = await startCookieSchool();
    const environment = { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) };
    const overrides = {
      ...overridesFor(school.url),
      store: { kind: 'redis', url: { env: 'REDIS_URL' } },
      secret: { env: 'COURSEGATE_SECRET' },
    };
    world = await startWorld({ profile: 'A', environment, overrides });
    replica = await startWorld({ profile: 'A', environment, overrides: { ...overrides, origin: world.origin } });
  });
  afterAll(async () => {
    await replica.close();
    await world.close();
    await school.close();
    await redis.close();
  });

  it('is the same at both, whichever changes it, and ends at both', async () => {
    school.rotates = true;
    const session = school.signIn('ann');
    const ann = await connectWith(world.origin, { school_session: session });
    for (let round = 0; round < 6; round += 1) {
      expect(await ofMember(await ask(round % 2 === 0 ? world : replica, ann))).toBe('ann');
    }
    const client = new Redis(redis.socket);
    const keys = await client.keys('*');
    const dump = await Promise.all(
      keys.map(async (key) => `${key} ${(await client.dumpBuffer(key))?.toString('latin1')}`),
    );
    client.disconnect();
    expect(keys.filter((key) => key.includes(':entry:BackendSession:'))).toHaveLength(1);
    for (const value of [session, 'sess-', 'school_session']) expect(dump.join('\n')).not.toContain(value);

    await revoke(ann.app, ann.refreshToken);
    const sent = school.requests.length;
    // For up to five seconds a replica may still accept the token, but the session it would send no longer exists.
    expect((await ask(replica, ann)).status).toBe(401);
    expect(school.requests.length).toBe(sent);
  });
});
