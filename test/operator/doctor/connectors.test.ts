import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examineBackend } from '../../../src/operator/doctor/backend/backend-doctor.ts';
import { folderWith, load } from '../../config/fixture.ts';
import { type GateSettings, startBackend } from '../../integrations/contract/backend.ts';
import { EXPRESS } from '../../integrations/contract/frameworks.ts';
import { type FormBackend, startFormBackend } from '../../login/support/form-backend.ts';
import { type ScriptedIdp, startScriptedIdp } from '../../login/support/scripted-idp.ts';
import { startWebhookBackend, WEBHOOK_SECRET, type WebhookBackend } from '../../login/support/webhook-backend.ts';
import { BRIDGE_SECRET, type BridgeBackend, startBridgeBackend } from '../../support/bridge-backend.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';

const ORIGIN = 'http://localhost:9';
/** No gate runs: these checks need none. */
const STOPPED = {
  address: 'http://127.0.0.1:1',
  ask: () => Promise.reject(new Error('no gate')),
  command: () => Promise.reject(new Error('no gate')),
};

type Login = Readonly<Record<string, unknown>>;

/** The findings about signing in, as `check level: seen`. */
async function found(
  login: Login,
  url: string,
  secrets: Readonly<Record<string, string>> = {},
  more: Readonly<Record<string, unknown>> = {},
): Promise<readonly string[]> {
  const text = JSON.stringify({
    version: 1,
    profile: 'B',
    origin: ORIGIN,
    store: { kind: 'memory' },
    login,
    upstreams: { school: { url } },
    site: { upstream: 'school' },
    ...more,
  });
  const loaded = await load(text, { environment: secrets });
  const { findings } = await examineBackend({ loaded, admin: STOPPED, only: ['signin'] });
  return findings.map(({ check, level, seen }) => `${check.replace('signin.', '')} ${level}: ${seen}`);
}

describe('the bridge', () => {
  let backend: BridgeBackend;
  let careless: RecordingUpstream;
  beforeAll(async () => {
    backend = await startBridgeBackend();
    careless = await startRecordingUpstream();
  });
  afterAll(async () => {
    await backend.close();
    await careless.close();
  });
  const login = { kind: 'bridge', url: '/bridge', secret: { env: 'BRIDGE_SECRET' } };

  it('passes if it refuses forged requests', async () => {
    expect(await found(login, backend.url, { BRIDGE_SECRET })).toEqual([
      'bridge pass: it answers 200',
      'bridge-forged pass: 403',
    ]);
  });

  it('is found if it has another secret, or verifies nothing', async () => {
    expect(await found(login, backend.url, { BRIDGE_SECRET: randomBytes(32).toString('hex') })).toEqual([
      'bridge failure: it answers 403 to a request with a valid signature',
      'bridge-forged pass: 403',
    ]);
    expect(await found(login, careless.url, { BRIDGE_SECRET })).toEqual([
      'bridge pass: it answers 200',
      'bridge-forged failure: it answers 200 to a request that is signed with another secret',
    ]);
  });

  it('is found if it is a drop-in that does not accept the host of the pages', async () => {
    const pages = 'http://127.0.0.1:9';
    const settings = { origin: ORIGIN, upstream: 'school', secret: BRIDGE_SECRET, jwksUrl: `${ORIGIN}/jwks` };
    const seen = async (dropIn: GateSettings) => {
      const site = await startBackend(EXPRESS, dropIn);
      try {
        const bridge = { ...login, url: '/coursegate/bridge' };
        return (await found(bridge, site.url, { BRIDGE_SECRET }, { pages: { origin: pages } }))[0];
      } finally {
        await site.close();
      }
    };
    expect(await seen(settings)).toBe('bridge failure: it answers 400 to a request with a valid signature');
    expect(await seen({ ...settings, pagesOrigin: pages })).toBe('bridge pass: it redirects to /login');
  });
});

describe('the webhook', () => {
  let backend: WebhookBackend;
  let careless: RecordingUpstream;
  beforeAll(async () => {
    backend = await startWebhookBackend();
    careless = await startRecordingUpstream();
  });
  afterAll(async () => {
    await backend.close();
    await careless.close();
  });
  const login = { kind: 'webhook', upstream: 'school', path: '/login', secret: { env: 'WEBHOOK_SECRET' } };

  it('passes if it refuses what it should', async () => {
    backend.says(() => ({ status: 404, body: '{}' }));
    expect(await found(login, backend.url, { WEBHOOK_SECRET })).toEqual([
      'refused pass: refused as wrong',
      'unsigned pass: 400',
    ]);
  });

  it('is found if it has another secret, or accepts everything', async () => {
    backend.says(() => ({ body: '{"sub":"1001"}' }));
    expect((await found(login, backend.url, { WEBHOOK_SECRET }))[0]).toBe(
      'refused failure: an invented name and password sign in a member',
    );
    expect(await found(login, careless.url, { WEBHOOK_SECRET })).toEqual([
      'refused failure: The backend answered 200, which it has not signed',
      'unsigned failure: it answers 200 to a request without a signature',
    ]);
  });
});

describe('the form', () => {
  let backend: FormBackend;
  beforeAll(async () => {
    backend = await startFormBackend();
  });
  afterAll(() => backend.close());
  const login = {
    kind: 'form',
    upstream: 'school',
    page: '/login',
    fields: { username: 'user', password: 'pass' },
    extra: { go: 'Go' },
    success: { status: [302] },
    whoami: { path: '/me' },
  };

  it('passes if the page has the form, and is found if not', async () => {
    expect(await found(login, backend.url)).toEqual([
      `page pass: ${ORIGIN}/login leads to ${ORIGIN}/login.php, which answers 200 "School"`,
      'refused pass: refused as wrong',
    ]);
    expect(await found({ ...login, page: '/sign-in' }, backend.url)).toEqual([
      `page failure: ${ORIGIN}/sign-in answers 404 text/html; charset=utf-8`,
      'refused failure: The backend answered 404 for its sign-in page',
    ]);
  });
});

describe('the database', () => {
  it('passes if the query works, and is found if not', async () => {
    const folder = await folderWith({});
    const path = join(folder, 'members.db');
    const database = new DatabaseSync(path);
    database.exec('create table members (id text, email text, hash text)');
    database.close();
    const login = {
      kind: 'database',
      url: { env: 'MEMBERS' },
      query: 'select id, hash from members where email = $1',
    };
    const MEMBERS = `sqlite:${path}`;
    expect(await found(login, 'http://127.0.0.1:1', { MEMBERS })).toEqual(['refused pass: refused as wrong']);
    const missing = { ...login, query: 'select id, hash from users where email = $1' };
    expect(await found(missing, 'http://127.0.0.1:1', { MEMBERS })).toEqual(['refused failure: no such table: users']);
  });
});

describe('OpenID Connect', () => {
  let idp: ScriptedIdp;
  beforeAll(async () => {
    idp = await startScriptedIdp();
  });
  afterAll(() => idp.close());
  const login = (issuer = idp.issuer) => ({
    kind: 'oidc',
    providers: [{ id: 'school', name: 'School', issuer, clientId: 'gate', clientSecret: { env: 'CLIENT' } }],
  });
  const examine = (given = login()) => found(given, 'http://127.0.0.1:1', { CLIENT: 'a secret' });

  it('passes if the provider knows the client', async () => {
    expect(await examine()).toEqual([
      'providers pass: metadata and sign-in page',
      'client pass: an invented code is refused, and nothing else',
    ]);
  });

  it('is found if the client is unknown, or the issuer is wrong', async () => {
    idp.answers = {
      '/authorize': (response) => response.writeHead(400).end(),
      '/token': (response) =>
        response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}'),
    };
    expect(await examine()).toEqual([
      `providers failure: school: its sign-in page answers 400 to our client, with ${ORIGIN}/oauth/sign-in/callback/school`,
      expect.stringMatching(/^client failure: school: /),
    ]);
    const pages = { origin: 'http://127.0.0.1:9' };
    expect((await found(login(), 'http://127.0.0.1:1', { CLIENT: 'a secret' }, { pages }))[0]).toBe(
      `providers failure: school: its sign-in page answers 400 to our client, with ${pages.origin}/oauth/sign-in/callback/school`,
    );
    idp.reset();
    expect((await examine(login(`${idp.issuer}/realm`)))[0]).toMatch(/^providers failure: school: /);
  });
});

describe('a proxy', () => {
  let keys: RecordingUpstream;
  beforeAll(async () => {
    keys = await startRecordingUpstream((_request, response) => void response.end('{"keys":[{"kty":"EC"}]}'));
  });
  afterAll(() => keys.close());
  const signed = (jwks: string) => ({
    kind: 'header',
    jwt: { header: 'X-Assertion', jwks, issuer: 'https://proxy.test', audience: 'gate' },
  });

  it('passes if its keys can be read, and is found if not', async () => {
    expect(await found(signed(`${keys.url}/jwks`), keys.url)).toEqual(['proxy pass: 1 key']);
    expect((await found(signed('http://127.0.0.1:1/jwks'), keys.url))[0]).toMatch(
      /^proxy failure: http:\/\/127\.0\.0\.1:1\/jwks: /,
    );
  });
});

describe('a signed token in a cookie', () => {
  it('is examined by its keys, the sign-in page and the cookies that the page sets', async () => {
    const site = await startRecordingUpstream(({ url = '' }, response) => {
      if (url === '/jwks') return void response.end('{"keys":[{"kty":"EC"}]}');
      const { pathname, search } = new URL(url, ORIGIN);
      if (pathname !== '/login') return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'text/html', 'set-cookie': 'token=x; Path=/members; SameSite=Lax' });
      response.end(`<form action="/login${search}"></form>`);
    });
    const login = (jwks: string) => ({
      kind: 'jwt-cookie',
      jwt: { cookie: 'token', jwks, issuer: 'https://site.test', audience: 'site' },
      loginUrl: '/login',
    });
    try {
      expect(await found(login(`${site.url}/jwks`), site.url)).toEqual([
        `page pass: ${ORIGIN}/login answers 200 text/html`,
        'return pass: in return_to',
        'cookies failure: token has Path=/members, so browsers do not send it to /oauth/…',
        'proxy pass: 1 key',
      ]);
      expect((await found(login(`${site.url}/other`), site.url)).at(-1)).toMatch(
        /^proxy failure: .* answers 404 without keys$/,
      );
    } finally {
      await site.close();
    }
  });
});
