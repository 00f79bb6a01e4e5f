import { request as send } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES } from '../login/support/engines.ts';
import { startFormBackend } from '../login/support/form-backend.ts';
import { IDP_SECRET, startRealIdp } from '../login/support/real-idp.ts';
import { authorizationRequest, bearer, redeem, registerApp } from '../support/app.ts';
import { type Authority, createAuthority } from '../support/certificates.ts';
import { browserPresent, launchChromium } from '../support/chromium.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

const LONGEST = 240_000;
const REDIRECT_URI = 'http://127.0.0.1:9/callback';
/** The password is `correct horse`. */
const BCRYPT = '$2y$05$bQZ1cLGoAbtkELjb5m3j/uyaeC4dQY6OxKrYVMv6K82UQ6Ej4ptV6';

/** One way to sign in, with the backend that it asks. */
interface Backend {
  readonly login: Readonly<Record<string, unknown>>;
  readonly upstreams?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** What the member enters on the gate's page; undefined if the gate has none. */
  readonly entered?: { readonly username: string; readonly password: string };
  /** The member's ID, as upstreams see it. */
  readonly member: string;
  /** Where the browser was sent to sign in. */
  signedInAt(): string;
  close(): Promise<void>;
}

const nothing = async () => undefined;

async function form(pages: string): Promise<Backend> {
  const backend = await startFormBackend();
  return {
    login: {
      ...{ kind: 'form', upstream: 'old', page: '/login', fields: { username: 'user', password: 'pass' } },
      ...{
        extra: { go: 'Go' },
        success: { status: [302], location: '^/home' },
        whoami: { path: '/me', name: '/name' },
      },
    },
    upstreams: { old: { url: backend.url } },
    entered: { username: 'sam', password: `sam's & "own" pässword` },
    member: 'sam-7',
    signedInAt: () => `${pages}/oauth/sign-in`,
    close: backend.close,
  };
}

async function database(pages: string): Promise<Backend> {
  const sqlite = ENGINES.find(({ name }) => name === 'SQLite');
  if (sqlite === undefined) throw new Error('There is no engine named SQLite.');
  const engine = await sqlite.start();
  await engine.run('create table users (id bigint, email varchar(100), hash varchar(200))');
  await engine.run(`insert into users values ('1001', 'sam@school.test', '${BCRYPT}')`);
  return {
    login: {
      ...{ kind: 'database', url: { env: 'MEMBERS' } },
      query: 'select id, hash, email from users where lower(email) = lower($1)',
    },
    environment: { MEMBERS: engine.url },
    entered: { username: 'sam@school.test', password: 'correct horse' },
    member: '1001',
    signedInAt: () => `${pages}/oauth/sign-in`,
    close: engine.close,
  };
}

async function oidc(pages: string): Promise<Backend> {
  const idp = await startRealIdp();
  idp.welcome(`${pages}/oauth/sign-in/callback/school`);
  const provider = { id: 'school', name: 'School account', issuer: idp.issuer, clientId: 'gate' };
  return {
    login: { kind: 'oidc', providers: [{ ...provider, clientSecret: { env: 'IDP_SECRET' } }] },
    environment: { IDP_SECRET },
    member: 'school:sam',
    signedInAt: () => String(idp.asked.get('redirect_uri')).replace('/callback/school', ''),
    close: idp.close,
  };
}

async function header(pages: string): Promise<Backend> {
  return {
    login: { kind: 'header', user: 'X-SSO-Member', email: 'X-SSO-Email', signInUrl: '/sso/start' },
    member: '1001',
    signedInAt: () => `${pages}/oauth/sign-in`,
    close: nothing,
  };
}

/** A field of Set-Cookie, and the host that sent it. */
interface SetCookie {
  readonly origin: string;
  readonly name: string;
  readonly attributes: readonly string[];
}

/** Every cookie of the gate that a browser is given. */
function watchCookies(context: BrowserContext): () => Promise<readonly SetCookie[]> {
  const read: Promise<readonly SetCookie[]>[] = [];
  context.on('response', (response) => {
    const { origin } = new URL(response.url());
    const cookies = response.headersArray().then((fields) =>
      fields
        .filter(({ name }) => name.toLowerCase() === 'set-cookie')
        .map(({ value }) => {
          const [pair = '', ...attributes] = value.split(/; ?/);
          return { origin, name: pair.split('=', 1)[0] ?? '', attributes: attributes.map((one) => one.toLowerCase()) };
        })
        .filter(({ name }) => name.includes('coursegate_')),
    );
    read.push(cookies);
  });
  return async () => (await Promise.all(read)).flat();
}

const KINDS = [
  { kind: 'form', start: form },
  { kind: 'database', start: database },
  { kind: 'oidc', start: oidc },
  { kind: 'header', start: header },
] as const;

describe.skipIf(!browserPresent())('pages.origin with https', () => {
  let authority: Authority;
  let front: Server;
  let browser: Browser;
  let upstream: RecordingUpstream;
  /** The gate behind the proxy. */
  let gate = '';
  let origin: string;
  let pages: string;

  beforeAll(async () => {
    authority = createAuthority();
    setDefaultCACertificates([...getCACertificates(), authority.ca]);
    upstream = await startRecordingUpstream();
    browser = await launchChromium();
    // Ends TLS for both hosts. At the pages' host it is a single sign-on proxy as well, which replaces its own field.
    front = createServer(authority.issue('localhost'), (request, response) => {
      const { 'x-sso-member': _forged, ...headers } = request.headers;
      const url = new URL(request.url ?? '', `https://${headers.host}`);
      if (url.origin === pages && url.pathname === '/sso/start') {
        const location = url.searchParams.get('rd') ?? '/';
        response.writeHead(303, { 'set-cookie': '__Host-sso=1; Path=/; Secure; HttpOnly', location }).end();
        return;
      }
      const isSignedIn = url.origin === pages && headers.cookie?.includes('__Host-sso=1') === true;
      const fields = isSignedIn ? { 'x-sso-member': '1001', 'x-sso-email': 'sam@school.test' } : {};
      const to = new URL(request.url ?? '', gate);
      const onward = send(to, { method: request.method ?? 'GET', headers: { ...headers, ...fields } }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    front.addContext('login.localhost', authority.issue('login.localhost'));
    await new Promise<void>((done) => front.listen(0, 'localhost', done));
    const { port } = front.address() as AddressInfo;
    origin = `https://localhost:${port}`;
    pages = `https://login.localhost:${port}`;
  }, LONGEST);
  afterAll(async () => {
    await browser?.close();
    front?.closeAllConnections();
    front?.close();
    await upstream?.close();
    authority?.close();
  });

  describe.each(KINDS)('and login.kind: $kind', ({ kind, start }) => {
    let backend: Backend;
    let world: World;
    beforeAll(async () => {
      backend = await start(pages);
      world = await startWorld({
        profile: 'A',
        environment: backend.environment ?? {},
        adjust: (config) => ({ ...config, origin, pages: { ...config.pages, origin: pages } }),
        overrides: {
          listen: { trustedProxies: ['loopback'] },
          login: backend.login,
          upstreams: { school: { url: upstream.url }, ...backend.upstreams },
        },
      });
      gate = world.origin;
    }, LONGEST);
    afterAll(async () => {
      await world?.close();
      await backend?.close();
    });

    const signIn = async (page: Page) => {
      const { entered } = backend;
      if (entered === undefined) return;
      const main = page.locator('main#sign-in');
      expect(new URL(page.url()).href).toMatch(new RegExp(`^${pages}/oauth/sign-in[?]`));
      await main.locator('[name=username]').fill(entered.username);
      await main.locator('[name=password]').fill(entered.password);
      await main.locator('.fields button').click();
    };

    it('leads a member from the app to a token, with every cookie at the pages’ host', {
      timeout: LONGEST,
    }, async () => {
      const app = await registerApp(origin, { redirectUri: REDIRECT_URI });
      const request = await authorizationRequest(app, { scope: 'openid' });
      const context = await browser.newContext({ ignoreHTTPSErrors: true });
      context.setDefaultTimeout(15_000);
      const cookies = watchCookies(context);
      try {
        const page = await context.newPage();
        expect(request.url.startsWith(`${origin}/oauth/authorize?`)).toBe(true);
        await page.goto(request.url);
        await signIn(page);
        const consent = page.locator('main#consent');
        await consent.waitFor();
        expect(new URL(page.url()).origin).toBe(pages);
        expect(backend.signedInAt()).toBe(`${pages}/oauth/sign-in`);
        const arrived = page.waitForRequest((one) => one.url().startsWith(REDIRECT_URI));
        await consent.locator('button[value=approve]').click();
        const { access_token } = await redeem(app, request, new URL((await arrived).url()));

        const answer = await fetch(`${origin}/api/v1/whoami`, { headers: bearer(access_token) });
        expect(answer.status).toBe(200);
        expect([upstream.last().target, upstream.last().values('x-member-id')]).toEqual([
          '/api/v1/whoami',
          [backend.member],
        ]);

        const set = await cookies();
        expect([...new Set(set.map((one) => one.origin))]).toEqual([pages]);
        const own = kind === 'header' ? [] : ['__Host-coursegate_member', '__Host-coursegate_sign_in'];
        const lasting = set.filter(({ name }) => name.startsWith('__Host-'));
        expect([...new Set(lasting.map(({ name }) => name))].sort()).toEqual(
          [...own, '__Host-coursegate_session', '__Host-coursegate_session.sig'].sort(),
        );
        for (const { attributes } of lasting) {
          expect(attributes).toEqual(expect.arrayContaining(['path=/', 'secure', 'httponly', 'samesite=lax']));
          expect(attributes.filter((one) => one.startsWith('domain'))).toEqual([]);
        }
        // Those of one interaction are for its unguessable path.
        for (const { name, attributes } of set.filter((one) => !lasting.includes(one))) {
          expect(name).toMatch(/^coursegate_(interaction|resume)(\.sig)?$/);
          expect(attributes.join()).toMatch(/path=\/oauth\/(interaction|authorize)\/[\w-]{20,}/);
        }
        // The browser accepted them, and sends none of them to the site.
        const kept = (await context.cookies()).filter(({ name }) => name.includes('coursegate_'));
        expect([...new Set(kept.map(({ domain }) => domain))]).toEqual(['login.localhost']);
        const next = await context.newPage();
        await next.goto(`${origin}/courses`);
        // The browser asks for an icon, too.
        const courses = upstream.requests.findLast(({ target }) => target === '/courses');
        expect(courses).toBeDefined();
        expect(courses?.values('cookie').join()).not.toContain('coursegate');

        // Connected apps, by the address at the origin, for the member who is still signed in.
        await next.goto(`${origin}/oauth/apps`);
        expect(next.url()).toBe(`${pages}/oauth/apps`);
        expect(await next.locator('main#apps').innerText()).toContain('Test App');
      } finally {
        await context.close();
      }
    });
  });
});
