import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JWK, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signLink } from '../../../src/operator/console/link.ts';
import { csrfOf } from '../../operator/console/support/console.ts';
import { SERVERS } from '../../storage/sql/servers.ts';
import { type App, authorizationRequest, postForm, redeem, registerApp } from '../../support/app.ts';
import { type Browser, createBrowser } from '../../support/browser.ts';
import { commandSignature } from '../../support/commands.ts';
import { approved, connect } from '../../support/connection.ts';
import { OLU, reachConsent, SAM } from '../../support/member.ts';
import { proofKey, signProof } from '../../support/proof.ts';
import { redisPresent, startRedis } from '../../support/redis.ts';
import { type Schools, startSchools } from '../../support/schools.ts';

// A school below the name of the other one: what their hosts share, browsers share.
const ONE = 'https://a.school.example';
const TWO = 'https://school.example';
const OPERATOR = 'operator-of-the-process-0123456789ab';
const OF_ONE = 'operator-of-school-one-0123456789abc';
const PLATFORM = { one: 'platform-of-school-one-0123456789abc', two: 'platform-of-school-two-0123456789abc' };

/** What is sent to a school. `header` replaces the usual Host. */
interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** To the admin listener. */
  readonly admin?: true;
}

interface Known {
  readonly app: App;
  readonly browser: Browser;
  readonly access: string;
  readonly refresh: string;
  readonly idToken: string;
  readonly code: string;
  readonly verifier: string;
  readonly interaction: string;
  readonly requestUri: string;
  readonly nonce: string;
  readonly member: string;
  /** What the backend receives about the member. */
  readonly assertion: string;
  /** Of an operator of the process in the console of the school. */
  readonly operator: { readonly cookie: string; readonly session: string; readonly csrf: string };
}

const form = (fields: Record<string, string>): Pick<Sent, 'method' | 'headers' | 'body'> => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});
const json = (value: object, headers: Record<string, string> = {}) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
  body: JSON.stringify(value),
});
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

/**
 * Every kind of value that a school hands out or accepts: how it is taken from one school, and the addresses of another one
 * at which it means something. A new kind belongs in this table.
 */
const KINDS: Readonly<Record<string, { of(one: Known): string; at(value: string, two: Known): readonly Sent[] }>> = {
  'access token': {
    of: ({ access }) => access,
    at: (value, { app }) => [
      { path: '/api/v1/whoami', headers: bearer(value) },
      { path: '/api/oauth/userinfo', headers: bearer(value) },
      { path: '/account/graphql', ...json({ query: '{ __typename }' }, bearer(value)) },
      { path: '/mcp', ...json(call, bearer(value)) },
      { path: '/mcp/member', ...json(call, bearer(value)) },
      { path: '/api/oauth/introspect', ...form({ token: value, ...credentials(app) }) },
      { path: '/api/oauth/revoke', ...form({ token: value, ...credentials(app) }) },
      { path: `/api/oauth/register/${app.client.client_id}`, headers: bearer(value) },
    ],
  },
  'refresh token': {
    of: ({ refresh }) => refresh,
    at: (value, { app }) => [
      { path: '/api/oauth/token', ...form({ grant_type: 'refresh_token', refresh_token: value, ...credentials(app) }) },
      { path: '/api/oauth/revoke', ...form({ token: value, token_type_hint: 'refresh_token', ...credentials(app) }) },
      { path: '/api/oauth/introspect', ...form({ token: value, ...credentials(app) }) },
    ],
  },
  'authorization code': {
    of: ({ code }) => code,
    at: (value, { app, verifier }) => [
      {
        path: '/api/oauth/token',
        ...form({
          grant_type: 'authorization_code',
          code: value,
          code_verifier: verifier,
          redirect_uri: app.redirectUri,
          ...credentials(app),
        }),
      },
    ],
  },
  'id token': {
    of: ({ idToken }) => idToken,
    at: (value, { app }) => [{ path: authorize(app, { id_token_hint: value, prompt: 'none' }) }],
  },
  'client id': {
    of: ({ app }) => app.client.client_id,
    at: (value, { app }) => [
      { path: authorize(app, { client_id: value }) },
      {
        path: '/api/oauth/token',
        ...form({ ...credentials(app), grant_type: 'refresh_token', refresh_token: 'x', client_id: value }),
      },
      { path: '/api/oauth/par', ...form({ ...credentials(app), client_id: value, response_type: 'code' }) },
      { path: `/schools/two/clients/${value}`, admin: true },
    ],
  },
  'client secret': {
    of: ({ app }) => String(app.client.client_secret),
    at: (value, { app }) => [
      {
        path: '/api/oauth/token',
        ...form({ ...credentials(app), grant_type: 'refresh_token', refresh_token: 'x', client_secret: value }),
      },
      { path: '/api/oauth/introspect', ...form({ ...credentials(app), token: 'x', client_secret: value }) },
    ],
  },
  'registration access token': {
    of: ({ app }) => String(app.client.registration_access_token),
    at: (value, { app }) => [
      { path: `/api/oauth/register/${app.client.client_id}`, headers: bearer(value) },
      { path: `/api/oauth/register/${app.client.client_id}`, method: 'DELETE', headers: bearer(value) },
      { path: '/api/v1/whoami', headers: bearer(value) },
    ],
  },
  'pushed request': {
    of: ({ requestUri }) => requestUri,
    at: (value, { app }) => [
      { path: `/oauth/authorize?${new URLSearchParams({ client_id: app.client.client_id, request_uri: value })}` },
    ],
  },
  interaction: {
    of: ({ interaction }) => interaction,
    at: (value) => [
      { path: `/oauth/interaction/${value}` },
      { path: `/oauth/interaction/${value}`, ...form({ decision: 'approve' }) },
      { path: `/oauth/interaction/${value}/return` },
      { path: `/oauth/authorize/${value}` },
    ],
  },
  'member id': {
    of: ({ member }) => member,
    at: (value, two) => [
      { path: `/schools/two/members/${value}`, admin: true },
      { path: `/schools/two/members/${value}/revoke`, admin: true, ...json({ by: 'operator' }) },
      console(`members/${value}`, ownSession(two)),
    ],
  },
  'session of an operator in the console': {
    of: ({ operator: { session } }) => session,
    at: (value, { operator: { cookie, csrf } }) =>
      // Under the name of its own cookie it is not even read.
      ['coursegate_console_00000000', cookie].flatMap((name) => [
        ...['', 'apps', 'sign-in'].map((page) => console(page, { cookie: `${name}=${value}` })),
        console('sign-out', { cookie: `${name}=${value}` }, { csrf }),
        { ...console('', { cookie: `${name}=${value}` }), path: '/console' },
      ]),
  },
  'form token of the console': {
    of: ({ operator: { csrf } }) => csrf,
    at: (value, two) => ['sign-out', 'keys/rotate'].map((page) => console(page, ownSession(two), { csrf: value })),
  },
  'link to the console': {
    // With the secret that opens both schools.
    of: () => signLink(OPERATOR, Math.floor(Date.now() / 1000), '/schools/one'),
    at: (value) => [
      console(`sign-in?link=${value}`),
      console('sign-in', {}, { link: value }),
      { ...console('sign-in', {}, { link: value }), path: '/console/sign-in' },
    ],
  },
};

/** What a browser sends to the console of the second school. */
function console(page: string, headers: Record<string, string> = {}, fields?: Record<string, string>): Sent {
  const posted = fields === undefined ? undefined : form(fields);
  const path = `/schools/two/console${page && `/${page}`}`;
  const own = { accept: 'text/html', 'sec-fetch-site': 'same-origin', ...headers, ...posted?.headers };
  return { ...posted, path, admin: true, headers: own };
}

function ownSession({ operator: { cookie, session } }: Known): Record<string, string> {
  return { cookie: `${cookie}=${session}` };
}

/** The values that are sent in a header field or a cookie: these have no kind of their own in the table above. */
function credentials({ client }: App): Record<string, string> {
  return { client_id: client.client_id, client_secret: String(client.client_secret), resource: TWO };
}

function authorize(app: App, more: Record<string, string>): string {
  const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  const fields = { response_type: 'code', redirect_uri: app.redirectUri, resource: TWO, scope: 'openid', state: 's' };
  const all = { client_id: app.client.client_id, code_challenge: challenge, code_challenge_method: 'S256' };
  return `/oauth/authorize?${new URLSearchParams({ ...fields, ...all, ...more })}`;
}

const SQL = SERVERS[0];
const STORES: Readonly<Record<string, () => Promise<StartedStore>>> = {
  sqlite: async () => ({ main: {}, url: '', close: async () => {} }),
  async redis() {
    const { url, close } = await startRedis();
    return { main: { store: { kind: 'redis', url: { env: 'STORE_URL' } } }, url, close };
  },
  async sql() {
    const server = await SQL?.start();
    if (server === undefined) throw new Error('no database server');
    const main = { store: { kind: server.kind, url: { env: 'STORE_URL' } } };
    return { main, url: await server.database('walls'), close: () => server.close() };
  },
};

interface StartedStore {
  /** For the main file. */
  readonly main: object;
  readonly url: string;
  close(): Promise<void>;
}

const ROWS: readonly (readonly [ofOne: string, ofTwo: string, kind: string])[] = [
  ['A', 'A', 'sqlite'],
  ['A', 'B', 'sqlite'],
  ['B', 'A', 'sqlite'],
  ...(redisPresent() ? [['A', 'B', 'redis'] as const] : []),
  ...(SQL === undefined ? [] : [['A', 'A', 'sql'] as const]),
];

describe.each(ROWS)('between schools of the profiles %s and %s with a store in %s', (ofOne, ofTwo, kind) => {
  let schools: Schools;
  let store: StartedStore;
  let one: Known;
  let two: Known;
  beforeAll(async () => {
    const settings = (profile: string, origin: string, secret: string) => ({
      profile,
      origin,
      clients: { registration: { enabled: true } },
      admin: {
        hmac: { secret: { env: secret } },
        webhooks: { lms: { secret: { env: `LMS_${secret}` }, member: '/user', event: 'revoke' } },
      },
    });
    store = await (STORES[kind] as () => Promise<StartedStore>)();
    schools = await startSchools({
      schools: {
        one: settings(ofOne, ONE, 'ONE'),
        two: settings(ofTwo, TWO, 'TWO'),
      },
      main: {
        ...{ admin: { hmac: { secret: { env: 'OPERATOR' } } }, secret: { env: 'SECRET' } },
        ...store.main,
      },
      environment: {
        ...{ STORE_URL: store.url, SECRET: 'secret-of-the-process-0123456789abcd' },
        ...{ OPERATOR, ONE: OF_ONE, TWO: 'operator-of-school-two-0123456789abc' },
        ...{ LMS_ONE: PLATFORM.one, LMS_TWO: PLATFORM.two },
      },
    });
    [one, two] = [await known(ONE, OLU), await known(TWO, SAM)];
  }, 120_000);
  afterAll(async () => {
    await schools.close();
    await store.close();
  });

  /** A member connects an app, and leaves something of each kind unfinished. */
  const known = async (origin: string, member: typeof SAM | typeof OLU): Promise<Known> => {
    const app = await registerApp(origin, { confidential: true });
    const browser = createBrowser();
    const tokens = await connect(app, { browser, member });
    const { form: token } = await approved(app, { browser, member });
    const { page: consent } = await reachConsent((await authorizationRequest(app)).url, member);
    const pushed = await postForm(`${origin}/api/oauth/par`, {
      ...Object.fromEntries(new URL((await authorizationRequest(app)).url).searchParams),
      client_secret: String(app.client.client_secret),
    });
    const key = await proofKey();
    const proof = await signProof(key, { htm: 'POST', htu: `${origin}/api/oauth/token` });
    const asked = await postForm(`${origin}/api/oauth/token`, { ...token, code: 'x' }, { dpop: proof });
    const answer = await fetch(`${origin}/api/v1/whoami`, { headers: bearer(tokens.access_token) });
    const received = (await answer.json()) as Record<string, string>;
    const at = (page: string, headers = {}, fields?: Record<string, string>) => {
      const sent = console(page, headers, fields);
      return send({ ...sent, path: origin === TWO ? sent.path : sent.path.replace('two', 'one') });
    };
    const [cookie = '', session = ''] =
      (await at('sign-in', {}, { secret: OPERATOR })).headers['set-cookie']?.[0]?.split(/[=;]/) ?? [];
    const first = await at('', { cookie: `${cookie}=${session}` });
    expect(first.status).toBe(200);
    return {
      app,
      browser,
      access: tokens.access_token,
      refresh: String(tokens.refresh_token),
      idToken: String(tokens.id_token),
      code: String(token.code),
      verifier: String(token.code_verifier),
      interaction: /interaction\/([\w-]+)/.exec(consent.url)?.[1] ?? '',
      requestUri: String(((await pushed.json()) as { request_uri: string }).request_uri),
      nonce: asked.headers.get('dpop-nonce') ?? '',
      member: String(decodeJwt(String(tokens.id_token)).sub),
      assertion: received['x-coursegate-assertion'] ?? '',
      operator: { cookie, session, csrf: csrfOf(first.text) },
    };
  };

  const send = async ({ method = 'GET', path, headers = {}, body = '', admin }: Sent, host = 'school.example') => {
    const url = admin === undefined ? { port: schools.port } : { port: Number(new URL(schools.admin).port) };
    const signed = admin && { 'coursegate-signature': commandSignature(path, { method, body, secret: OPERATOR }) };
    const fields = {
      ...(admin === undefined && { host }),
      'content-length': Buffer.byteLength(body),
      ...signed,
      ...headers,
    };
    const request = http.request({ ...url, host: '127.0.0.1', method, path, headers: fields, agent: false });
    request.end(body);
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    let text = '';
    for await (const chunk of answer.setEncoding('utf8')) text += chunk;
    return { status: answer.statusCode, headers: answer.headers, text };
  };
  /** Without what differs from one request to the next: ids, dates, nonces and the value itself. */
  const comparable = ({ status, headers, text }: Awaited<ReturnType<typeof send>>, value: string) => {
    const { date: _, ...fields } = headers;
    const plain = JSON.stringify({ status, fields, text })
      .replaceAll(value, '<value>')
      .replaceAll(encodeURIComponent(value), '<value>');
    return plain.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>').replace(/[\w-]{16,}(?:\.[\w-]+)*/g, '<random>');
  };
  /** A value of the same form that nobody has ever had. */
  const unknown = (value: string) =>
    value.slice(0, -12) +
    [...value.slice(-12)]
      .reverse()
      .map((one) =>
        /\d/.test(one) ? String((Number(one) + 3) % 10) : one === 'q' ? 'r' : /[a-z]/.test(one) ? 'q' : one,
      )
      .join('');

  /** How many operations of each kind the store has done for the second school. */
  const work = async (): Promise<Readonly<Record<string, number>>> => {
    const text = await (await fetch(`${schools.admin}/metrics`)).text();
    const series = text.matchAll(
      /^coursegate_store_operation_seconds_count\{school="two",(?:[^}]*,)?operation="(\w+)"[^}]*\} (\d+)$/gm,
    );
    return Object.fromEntries([...series].map(([, operation = '', count]) => [operation, Number(count)]));
  };
  const workOf = async (sent: Sent) => {
    // It takes time, and differs by kind of store and by value rather than by profile.
    if (ofOne !== 'A' || (kind === 'sqlite' && ofTwo !== 'A')) return { answer: await send(sent), done: {} };
    const before = await work();
    const answer = await send(sent);
    const after = await work();
    expect(after.get).toBeGreaterThan(0);
    const done = Object.entries(after).map(([operation, count]) => [operation, count - (before[operation] ?? 0)]);
    return { answer, done: Object.fromEntries(done.filter(([, count]) => count !== 0)) as Record<string, number> };
  };
  /**
   * Both get the same answer for the same work of the store, which is what an answer takes. Other work of the school is
   * done every few seconds, and pages of the console show it, so a difference there counts only if it stays.
   */
  const alike = async (
    [mine, value]: readonly [Sent, string],
    [never, other]: readonly [Sent, string],
    what: string,
  ) => {
    for (let tries = 1; ; tries += 1) {
      const [foreign, unknown] = [await workOf(mine), await workOf(never)];
      const texts = [comparable(foreign.answer, value), comparable(unknown.answer, other)];
      if (mine.admin === undefined || tries === 4) expect(texts[0], what).toBe(texts[1]);
      if (tries === 4) expect(foreign.done, `${what}: operations of the store`).toEqual(unknown.done);
      if (texts[0] === texts[1] && JSON.stringify(foreign.done) === JSON.stringify(unknown.done)) return foreign.answer;
    }
  };

  it.each(Object.keys(KINDS))(
    'a %s of one school is an unknown one at the other, at each of its addresses',
    async (kind) => {
      const { of, at } = KINDS[kind] as (typeof KINDS)[string];
      const value = of(one);
      expect(value.length).toBeGreaterThan(3);
      const other = kind === 'member id' ? 'm-9009' : unknown(value);
      expect(other).not.toBe(value);
      const [mine, never] = [at(value, two), at(other, two)];
      for (const [index, sent] of mine.entries()) {
        const answer = await alike([sent, value], [never[index] as Sent, other], `${kind} at ${sent.path}`);
        if (sent.admin !== undefined) continue;
        // What a client says of the host, in other ways than Host, changes nothing.
        const forged = { 'x-forwarded-host': 'a.school.example', forwarded: 'host=a.school.example' };
        const repeated = await send({ ...sent, headers: { ...sent.headers, ...forged } });
        expect(repeated.status, `${kind} at ${sent.path}, X-Forwarded-Host`).toBe(answer.status);
        const absolute = await send({ ...sent, path: `${ONE}${sent.path}` });
        expect(absolute.status, `${kind} at ${sent.path}, absolute-form`).toBe(400);
        expect((await send(sent, 'x.a.school.example')).status).toBe(421);
      }
    },
  );

  it('the assertion of one school is valid with no key of the other, whatever backends take for its key', async () => {
    const keysOf = async (origin: string) =>
      ((await (await fetch(`${origin}/.well-known/jwks.json`)).json()) as { keys: JWK[] }).keys;
    const verify = (keys: JWK[]) => jwtVerify(one.assertion, createLocalJWKSet({ keys }));
    const [ofOne, ofTwo] = [await keysOf(ONE), await keysOf(TWO)];
    expect((await verify(ofOne)).payload.iss).toBe(ONE);
    await expect(verify(ofTwo)).rejects.toThrow('no applicable key found');
    const { kid = '', alg } = decodeProtectedHeader(one.assertion);
    const under = ofTwo.filter((key) => key.alg === alg).map((key) => ({ ...key, kid }));
    expect(under.length).toBeGreaterThan(0);
    for (const key of under) await expect(verify([key])).rejects.toThrow('signature verification failed');
  });

  it('cookies of one school are unknown ones at the other, and none is for its subdomains', async () => {
    const cookie = (known: Known, change = (value: string) => value) =>
      [...known.browser.cookies].map(([name, { value }]) => `${name}=${change(value)}`).join('; ');
    expect([...one.browser.cookies.keys()].some((name) => name.startsWith('__Host-'))).toBe(true);
    for (const path of ['/oauth/apps', authorize(two.app, { prompt: 'none' }), '/oauth/apps/app?id=x']) {
      const own = new Set(['__Host-coursegate_session', '__Host-coursegate_session.sig']);
      const only = (text: string) =>
        text
          .split('; ')
          .filter((one) => own.has(one.split('=')[0] ?? ''))
          .join('; ');
      const sent = (headers: Record<string, string>): readonly [Sent, string] => [{ path, headers }, 'none'];
      await alike(sent({ cookie: only(cookie(one)) }), sent({ cookie: only(cookie(one, unknown)) }), path);
    }
  });

  it('a DPoP nonce of one school is none at the other', async () => {
    const key = await proofKey();
    const asked = async (nonce: string): Promise<readonly [Sent, string]> => {
      const proof = await signProof(key, { htm: 'POST', htu: `${TWO}/api/oauth/token`, nonce });
      const fields = { grant_type: 'refresh_token', refresh_token: 'x', ...credentials(two.app) };
      const sent = { path: '/api/oauth/token', ...form(fields) };
      return [{ ...sent, headers: { ...sent.headers, dpop: proof } }, nonce];
    };
    expect(one.nonce).not.toBe('');
    await alike(await asked(one.nonce), await asked(unknown(one.nonce)), 'nonce');
  });

  it('a webhook and a command of one school are none at the other', async () => {
    const body = JSON.stringify({ user: 'm-1001' });
    const hooked = (secret: string): Sent => ({
      ...{ path: '/schools/two/webhooks/lms', admin: true, method: 'POST', body },
      headers: {
        'content-type': 'application/json',
        'x-signature': createHmac('sha256', secret).update(body).digest('hex'),
      },
    });
    const hook = (secret: string) => send(hooked(secret));
    const never = hooked('never-a-secret-of-any-school-0123456');
    expect((await alike([hooked(PLATFORM.one), 'x'], [never, 'x'], 'webhook')).status).toBe(401);
    const signed = (path: string, secret: string) =>
      send({
        path,
        admin: true,
        headers: { 'coursegate-signature': commandSignature(path, { method: 'GET', secret }) },
      });
    expect((await signed('/schools/two/keys', OF_ONE)).status).toBe(401);
    expect((await signed('/schools/one/keys', OF_ONE)).status).toBe(200);
    // Each school's members are there as before.
    expect((await send({ path: '/api/v1/whoami', headers: bearer(two.access) })).status).toBe(200);
    expect((await hook(PLATFORM.two)).status).toBe(200);
    expect((await send({ path: '/api/v1/whoami', headers: bearer(two.access) })).status).toBe(401);
    expect((await send({ path: '/api/v1/whoami', headers: bearer(one.access) }, 'a.school.example')).status).toBe(200);
  });

  it('a code of one school is redeemed there, after it was presented to the other', async () => {
    const { request, returned } = await approved(one.app, { member: OLU });
    await send({
      path: '/api/oauth/token',
      ...form({
        grant_type: 'authorization_code',
        code: returned.searchParams.get('code') ?? '',
        ...credentials(two.app),
      }),
    });
    expect(await redeem(one.app, request, returned)).toHaveProperty('access_token');
  });
});
