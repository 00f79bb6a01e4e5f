import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, createBrowser } from '../../support/browser.ts';
import { freePort } from '../../support/world.ts';
import {
  applicationFile,
  type Backend,
  type Framework,
  frameworkPresent,
  OLU,
  SAM,
  SAM_NAME,
  startBackend,
} from './backend.ts';
import { FORGERIES } from './forgeries.ts';
import { describeOneRequest } from './one-request.ts';
import { OVERRIDES } from './overrides.ts';
import { bridgeQuery, bridgeSignature, type SigningGate, startKeys } from './signing-gate.ts';

interface Whoami {
  readonly version: string;
  readonly auth_time: number;
}

const seconds = () => Math.floor(Date.now() / 1000);
/** Waits for the next second: the backend has a clock of its own, and `auth_time` is in whole seconds. */
const laterThan = (time: number) => expect.poll(seconds).toBeGreaterThan(time);

const JSON_TYPE = /^application\/(problem\+)?json\b/;

/** The tests that every drop-in must pass, for any framework, run against a server over HTTP. */
export function describeContract(framework: Framework): void {
  describe.skipIf(!frameworkPresent(framework))(`the drop-in of ${framework.name}`, () => {
    let gate: SigningGate;
    let backend: Backend;
    beforeAll(async () => {
      gate = await startKeys(SAM.id);
      backend = await startBackend(framework, gate);
    }, 120_000);
    afterAll(async () => {
      await backend?.close();
      await gate?.close();
    });

    const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
      fetch(backend.url + path, { redirect: 'manual', ...init, headers });
    const asserted = (token: string, headers: Record<string, string> = {}) => ({
      'x-coursegate-assertion': token,
      ...headers,
    });
    const cookieOf = (browser: Browser) => ({
      cookie: [...browser.cookies].map(([name, { value }]) => `${name}=${value}`).join('; '),
    });
    const { username, password } = framework.fields ?? { username: 'username', password: 'password' };
    const credentials = (member: { username: string; email: string; password: string }) => ({
      [username]: username.includes('email') ? member.email : member.username,
      [password]: member.password,
    });
    const signIn = async (member: { username: string; email: string; password: string }, path = '/login') => {
      const browser = createBrowser();
      const login = await browser.open(backend.url + path);
      const page = await browser.submit(login, credentials(member), (location) => location.startsWith(backend.url));
      return { browser, page };
    };

    describe('a request with an assertion', () => {
      it('returns 503 while the gate’s keys are unavailable, and recovers', async () => {
        gate.ill(true);
        const answer = await get('/probe', asserted(gate.assertion()));
        expect(answer.status).toBe(503);
        gate.ill(false);
        await expect
          .poll(async () => (await get('/probe', asserted(gate.assertion()))).status, { timeout: 15_000 })
          .toBe(200);
      });

      it('runs as the member, for this request only', async () => {
        const answer = await get('/probe', asserted(gate.assertion()));
        expect(await answer.json()).toEqual({
          member: SAM.id,
          client: 'app-1',
          scope: ['courses:read', 'orders:read'],
          seen: [],
        });
        expect(answer.headers.getSetCookie()).toEqual([]);
        expect(await (await get('/probe')).json()).toMatchObject({ member: null, client: null, scope: [] });
      });

      it('opens pages that require the framework’s own login', async () => {
        expect((await get('/private')).status).not.toBe(200);
        const answer = await get('/private', asserted(gate.assertion()));
        expect(answer.status).toBe(200);
        expect(await answer.json()).toMatchObject({ member: SAM.id });
        expect(answer.headers.getSetCookie()).toEqual([]);
      });

      it.each(Object.entries(FORGERIES))('is refused with %s', async (_title, forge) => {
        const answer = await get('/probe', asserted(forge(gate)));
        const text = await answer.text();
        expect({ status: answer.status, text }).toMatchObject({ status: 401 });
        expect(answer.headers.get('cache-control')).toContain('no-store');
        expect(answer.headers.get('content-type')).toMatch(JSON_TYPE);
        expect(text.length).toBeLessThan(200);
        expect((await get('/probe', asserted(forge(gate)), { method: 'POST' })).status).toBe(401);
      });

      it('is refused with two assertions', async () => {
        const headers = new Headers(asserted(gate.assertion()));
        headers.append('x-coursegate-assertion', gate.assertion());
        const answer = await fetch(`${backend.url}/probe`, { headers });
        expect(answer.status).toBe(401);
      });

      it('is accepted if the clocks differ by a few seconds', async () => {
        const now = Math.floor(Date.now() / 1000);
        for (const iat of [now + 4, now - 63]) {
          const answer = await get('/probe', asserted(gate.assertion({ iat, exp: iat + 60 })));
          expect(answer.status).toBe(200);
        }
      });

      it('may write without a CSRF token, unlike a session', async () => {
        const verified = await get('/probe', asserted(gate.assertion()), { method: 'POST' });
        expect({ status: verified.status, text: await verified.text() }).toMatchObject({ status: 200 });
        expect(verified.headers.getSetCookie()).toEqual([]);
        const { browser } = await signIn(SAM);
        const session = await get('/probe', cookieOf(browser), { method: 'POST' });
        expect([403, 419, 422]).toContain(session.status);
        const forged = gate.assertion({ aud: 'other' });
        expect((await get('/probe', asserted(forged, cookieOf(browser)), { method: 'POST' })).status).toBe(401);
      });

      it('overrides another member’s session, and leaves that session unchanged', async () => {
        const { browser } = await signIn(OLU);
        const cookie = cookieOf(browser);
        expect(await (await get('/probe', cookie)).json()).toMatchObject({ member: OLU.id });
        const form = await browser.open(`${backend.url}/password`);
        const answer = await get('/probe', asserted(gate.assertion(), cookie));
        expect(await answer.json()).toMatchObject({ member: SAM.id });
        expect(answer.headers.getSetCookie()).toEqual([]);
        expect(await (await get('/probe', cookie)).json()).toMatchObject({ member: OLU.id });
        // The CSRF token in an open page of the session is still valid.
        const after = await browser.submit(form, framework.newPassword(OLU.password, OLU.password));
        expect([403, 419, 422]).not.toContain(after.status);
      });

      it('hides plain identity headers from the application', async () => {
        const spoofed = {
          'x-member-id': OLU.id,
          'X-Member-Email': OLU.email,
          'X-MEMBER-SCOPE': 'account:write',
          X_Member_Id: OLU.id,
          x_member_name: 'Olu',
          'x-client-id': 'evil',
          X_Client_Id: 'evil',
        };
        expect(await (await get('/probe', spoofed)).json()).toEqual({
          member: null,
          client: null,
          scope: [],
          seen: [],
        });
        expect(await (await get('/probe', asserted(gate.assertion(), spoofed))).json()).toMatchObject({
          member: SAM.id,
          client: 'app-1',
          seen: [],
        });
        expect((await get('/private', spoofed)).status).not.toBe(200);
      });

      it.runIf(framework.overrides !== undefined)('is dispatched with the method that was sent', async () => {
        for (const [way, ask] of Object.entries(OVERRIDES)) {
          const honoured = framework.overrides?.some((one) => one === way);
          const send = async (method: string, more: Record<string, string>) => {
            const { path, headers, body } = ask(method);
            const answer = await get(path, { ...headers, ...more }, { method: 'POST', ...(body && { body }) });
            return { way, status: answer.status, body: await answer.json() };
          };
          // The framework itself applies the override: only requests with an assertion must keep their method.
          const dispatched = honoured ? 'DELETE' : 'POST';
          expect(await send('DELETE', {})).toEqual({ way, status: 200, body: { method: dispatched } });
          const held = honoured ? [400, { error: 'method_override' }] : [200, { method: 'POST' }];
          const [status, body] = held;
          expect(await send('DELETE', asserted(gate.assertion()))).toEqual({ way, status, body });
          expect(await send('POST', asserted(gate.assertion()))).toEqual({
            way,
            status: 200,
            body: { method: 'POST' },
          });
          expect((await send('DELETE', asserted(gate.assertion({ aud: 'other' })))).status).toBe(401);
        }
        for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
          const answer = await get('/method', asserted(gate.assertion()), { method });
          expect(await answer.json()).toEqual({ method });
        }
      });

      it('is verified with a new key after a rotation, and keys are fetched no more often than allowed', async () => {
        const before = gate.fetches();
        const began = performance.now();
        for (let round = 0; round < 30; round += 1) {
          expect((await get('/probe', asserted(gate.assertion({}, { kid: `unknown-${round}` })))).status).toBe(401);
        }
        // At most one fetch per second, and one that was due.
        expect(gate.fetches() - before).toBeLessThanOrEqual(2 + (performance.now() - began) / 1000);
        expect(gate.fetches() - before).toBeLessThan(30);

        const old = gate.assertion();
        gate.rotate();
        const fresh = async () => (await get('/probe', asserted(gate.assertion()))).status;
        await expect.poll(fresh, { timeout: 15_000 }).toBe(200);
        expect((await get('/probe', asserted(old))).status).toBe(401);
        const settled = gate.fetches();
        for (let round = 0; round < 10; round += 1) expect(await fresh()).toBe(200);
        expect(gate.fetches()).toBe(settled);
      });
    });

    describeOneRequest(framework, () => ({ gate, backend }));

    describe('whoami', () => {
      it('returns 401 without a session, as JSON that is not cached', async () => {
        const answer = await get('/coursegate/whoami', { accept: 'application/json' });
        expect(answer.status).toBe(401);
        expect(answer.headers.get('cache-control')).toContain('no-store');
        expect(answer.headers.get('content-type')).toMatch(JSON_TYPE);
        expect((await get('/coursegate/whoami', { accept: 'text/html' })).status).toBe(401);
        expect((await get('/coursegate/whoami', { cookie: 'sessionid=x; sid=x; JSESSIONID=x' })).status).toBe(401);
      });

      it('identifies the session’s member, without further data', async () => {
        const { browser } = await signIn(SAM);
        const answer = await get('/coursegate/whoami', cookieOf(browser));
        const member = (await answer.json()) as { version: string };
        expect(member).toEqual({
          id: SAM.id,
          email: SAM.email,
          name: SAM_NAME,
          version: expect.any(String),
          auth_time: expect.any(Number),
          ...(framework.verifiesEmail && { email_verified: true }),
        });
        expect(member.version).toMatch(/^[0-9a-f]{32}$/);
        expect(answer.headers.get('cache-control')).toContain('no-store');
        expect(answer.headers.get('content-type')).toMatch(/^application\/json\b/);
      });

      it('accepts sessions only, not assertions', async () => {
        expect((await get('/coursegate/whoami', asserted(gate.assertion()))).status).toBe(401);
      });

      it('accepts no method but GET', async () => {
        const answer = await get('/coursegate/whoami', {}, { method: 'POST' });
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.status).toBeLessThan(500);
      });

      it('reports a new version after a password change, and only then', async () => {
        const version = async (browser: Browser) =>
          ((await (await get('/coursegate/whoami', cookieOf(browser))).json()) as { version?: string }).version;
        const { browser: phone } = await signIn(OLU);
        const { browser: desk } = await signIn(OLU);
        const before = await version(phone);
        expect(before).toMatch(/^[0-9a-f]{32}$/);
        expect(await version(desk)).toBe(before);
        const changed = { ...OLU, password: 'another horse altogether' };
        const form = await desk.open(`${backend.url}/password`);
        await desk.submit(form, framework.newPassword(OLU.password, changed.password));
        const { browser: after } = await signIn(changed);
        const later = await version(after);
        expect(later).toMatch(/^[0-9a-f]{32}$/);
        expect(later).not.toBe(before);
        const { browser: sam } = await signIn(SAM);
        expect(await version(sam)).not.toBe(later);

        const again = await after.open(`${backend.url}/password`);
        await after.submit(again, framework.newPassword(changed.password, OLU.password));
        expect((await signIn(OLU)).browser.cookies.size).toBeGreaterThan(0);
      });
    });

    describe('the bridge', () => {
      let browser: Browser;
      beforeAll(async () => {
        ({ browser } = await signIn(SAM));
      });

      const question = (fields: Record<string, string> = {}, secret = gate.secret) =>
        bridgeQuery(secret, { nonce: 'n-1', return_sso_url: `${gate.origin}/oauth/sign-in/bridge`, ...fields });
      const pathOf = (query: Record<string, string>) => `/coursegate/bridge?${new URLSearchParams(query)}`;
      const ask = (query: Record<string, string>, browser: Browser) => get(pathOf(query), cookieOf(browser));
      const read = (location: string | null | undefined) => {
        const url = new URL(location ?? '');
        const sso = url.searchParams.get('sso') ?? '';
        expect(url.searchParams.get('sig')).toBe(bridgeSignature(gate.secret, sso));
        return { url, fields: Object.fromEntries(new URLSearchParams(Buffer.from(sso, 'base64').toString())) };
      };

      it('returns the signed-in member to the gate, signed, with the nonce', async () => {
        const answer = await ask(question(), browser);
        expect(answer.status).toBe(302);
        expect(answer.headers.get('cache-control')).toContain('no-store');
        const { url, fields } = read(answer.headers.get('location'));
        expect(url.origin + url.pathname).toBe(`${gate.origin}/oauth/sign-in/bridge`);
        const whoami = (await (await get('/coursegate/whoami', cookieOf(browser))).json()) as Whoami;
        expect(fields).toEqual({
          nonce: 'n-1',
          external_id: SAM.id,
          email: SAM.email,
          username: SAM.username,
          name: SAM_NAME,
          version: whoami.version,
          auth_time: String(whoami.auth_time),
          ...(framework.verifiesEmail && { email_verified: 'true' }),
        });
      });

      it.runIf(framework.verifiesEmail)('reports an email address as unverified', async () => {
        const { browser: olu } = await signIn(OLU);
        expect(read((await ask(question(), olu)).headers.get('location')).fields.email_verified).toBe('false');
        const whoami = await (await get('/coursegate/whoami', cookieOf(olu))).json();
        expect(whoami).toMatchObject({ email_verified: false });
      });

      it('keeps the query of the return address', async () => {
        const answer = await ask(question({ return_sso_url: `${gate.origin}/back?keep=a%20b%26c` }), browser);
        const { url, fields } = read(answer.headers.get('location'));
        expect(url.searchParams.get('keep')).toBe('a b&c');
        expect(fields.external_id).toBe(SAM.id);
      });

      it('requests a sign-in on the framework’s own page, and then answers', async () => {
        const nobody = await get(pathOf(question()));
        expect([302, 303]).toContain(nobody.status);
        expect(new URL(nobody.headers.get('location') ?? '', backend.url).origin).toBe(backend.url);
        const { page } = await signIn(SAM, pathOf(question({ nonce: 'on the way & in' })));
        expect(read(page.location).fields).toMatchObject({ nonce: 'on the way & in', external_id: SAM.id });
      });

      it('lets another member sign in when the gate requests it, once', async () => {
        const { browser: sam } = await signIn(SAM);
        const path = pathOf(question({ prompt: 'select_account' }));
        const page = await sam.open(backend.url + path, (location) => location.startsWith(backend.url));
        expect(page).toMatchObject({ status: 200, location: undefined });
        const last = await sam.submit(page, credentials(OLU), (location) => location.startsWith(backend.url));
        expect(read(last.location).fields).toMatchObject({ nonce: 'n-1', external_id: OLU.id });
      });

      it('reports the time of the sign-in, not of the request', async () => {
        const before = seconds();
        const { browser: sam } = await signIn(SAM);
        const after = seconds();
        await laterThan(after);
        const authTime = Number(read((await ask(question(), sam)).headers.get('location')).fields.auth_time);
        expect(authTime).toBeGreaterThanOrEqual(before);
        expect(authTime).toBeLessThanOrEqual(after);
      });

      it.each<Record<string, string>>([{ prompt: 'login' }, { max_age: '0' }, { prompt: 'login', max_age: '3600' }])(
        'requests the password again from a signed-in member, once, for %j',
        async (wish) => {
          const { browser: sam } = await signIn(SAM);
          await laterThan(seconds());
          const asked = seconds();
          const path = pathOf(question(wish));
          const page = await sam.open(backend.url + path, (location) => location.startsWith(backend.url));
          expect(page).toMatchObject({ status: 200, location: undefined });
          expect(page.text).toContain(`name="${password}"`);
          const last = await sam.submit(page, credentials(SAM), (location) => location.startsWith(backend.url));
          const { fields } = read(last.location);
          expect(fields).toMatchObject({ nonce: 'n-1', external_id: SAM.id });
          expect(Number(fields.auth_time)).toBeGreaterThanOrEqual(asked);
        },
      );

      it.runIf(framework.remember)('does not count a "remember me" cookie as a sign-in', async () => {
        const { field = '', cookie = /$/ } = framework.remember ?? {};
        const sam = createBrowser();
        const login = await sam.open(`${backend.url}/login`);
        const follow = (location: string) => location.startsWith(backend.url);
        await sam.submit(login, { ...credentials(SAM), [field]: '1' }, follow);
        for (const name of [...sam.cookies.keys()]) if (!cookie.test(name)) sam.cookies.delete(name);
        expect(sam.cookies.size).toBe(1);
        const page = await sam.open(`${backend.url}/coursegate/whoami`);
        expect(JSON.parse(page.text)).toMatchObject({ id: SAM.id });
        expect(JSON.parse(page.text)).not.toHaveProperty('auth_time');
        for (const wish of [{ max_age: '3600' }, { prompt: 'login' }]) {
          const asked = seconds();
          const form = await sam.open(backend.url + pathOf(question(wish)), follow);
          expect(form).toMatchObject({ status: 200, location: undefined });
          const last = await sam.submit(form, credentials(SAM), follow);
          expect(Number(read(last.location).fields.auth_time)).toBeGreaterThanOrEqual(asked);
        }
      });

      it('does not request the password if the sign-in is recent enough', async () => {
        const { browser: sam } = await signIn(SAM);
        const answer = await ask(question({ max_age: '3600' }), sam);
        expect(read(answer.headers.get('location')).fields).toMatchObject({ external_id: SAM.id });
      });

      it('answers a repeated request with its own nonce only, and refuses its own response as a request', async () => {
        const query = question({ nonce: 'once' });
        const answers = [await ask(query, browser), await ask(query, browser)];
        for (const answer of answers) expect(read(answer.headers.get('location')).fields.nonce).toBe('once');
        // A response of the bridge is not accepted as a request, so it cannot be looped.
        const sso = new URL(answers[0]?.headers.get('location') ?? '').searchParams;
        expect((await ask({ sso: sso.get('sso') ?? '', sig: sso.get('sig') ?? '' }, browser)).status).toBe(400);
      });

      it.each<[string, () => Record<string, string>]>([
        ['no signature', () => ({ sso: question().sso })],
        ['an empty signature', () => ({ sso: question().sso, sig: '' })],
        ['no request', () => ({ sig: bridgeSignature(gate.secret, '') })],
        ['an empty request', () => ({ sso: '', sig: bridgeSignature(gate.secret, '') })],
        ['a signature with another secret', () => question({}, 'x'.repeat(64))],
        ['a signature with an empty secret', () => question({}, '')],
        [
          'a signature of the decoded text',
          () => {
            const { sso } = question();
            return { sso, sig: bridgeSignature(gate.secret, Buffer.from(sso, 'base64').toString()) };
          },
        ],
        ['the signature of another request', () => ({ ...question(), sig: question({ nonce: 'n-2' }).sig })],
        ['a truncated signature', () => ({ ...question(), sig: question().sig.slice(0, 32) })],
        [
          'a signature in base64',
          () => {
            const { sso, sig } = question();
            return { sso, sig: Buffer.from(sig, 'hex').toString('base64') };
          },
        ],
        ['a signature that is not ASCII', () => ({ ...question(), sig: 'é'.repeat(32) })],
        ['no nonce', () => bridgeQuery(gate.secret, { return_sso_url: `${gate.origin}/back` })],
        ['no return address', () => bridgeQuery(gate.secret, { nonce: 'n-1' })],
        ['invalid base64', () => ({ sso: '%%%', sig: bridgeSignature(gate.secret, '%%%') })],
        [
          'bytes that are not UTF-8',
          () => {
            const sso = Buffer.from([0xff, 0xfe, 0x00, 0x80]).toString('base64');
            return { sso, sig: bridgeSignature(gate.secret, sso) };
          },
        ],
      ])('refuses %s, without requesting a sign-in', async (_title, query) => {
        for (const answer of [await ask(query(), browser), await get(pathOf(query()))]) {
          expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
            status: 400,
            location: null,
          });
        }
      });

      it.each([
        'https://evil.example/back',
        '//evil.example/back',
        '/back',
        'https://gate.example.evil.example/back',
        'https://gate.example@evil.example/back',
        'https://gate.example:8443/back',
        'http://gate.example/back',
        'https://gate.example',
        'https://gate.example\\@evil.example/back',
        'https://gate.example/\\evil.example',
        'https://gate.example/back\r\nSet-Cookie: a=b',
        'https://gate.example/back\tx',
        ' https://gate.example/back',
        'HTTPS://GATE.EXAMPLE.evil.example/',
        'javascript:alert(1)//https://gate.example/',
        'https://gate.example/bäck',
        'https://login.gate.example.evil.example/back',
        'https://login.gate.example@evil.example/back',
        'https://login.gate.example:8443/back',
        'http://login.gate.example/back',
        'https://login.gate.example',
        'https://other.gate.example/back',
        'https://login.gate.example/\\evil.example',
        'HTTPS://LOGIN.GATE.EXAMPLE/back',
      ])('refuses to redirect to %j', async (address) => {
        const answer = await ask(question({ return_sso_url: address }), browser);
        expect({ status: answer.status, location: answer.headers.get('location') }).toEqual({
          status: 400,
          location: null,
        });
      });

      it('returns the member to the host of the gate’s pages, as configured', async () => {
        const back = 'https://login.gate.example/oauth/sign-in/callback/bridge';
        const { url, fields } = read((await ask(question({ return_sso_url: back }), browser)).headers.get('location'));
        expect(url.origin + url.pathname).toBe(back);
        expect(fields).toMatchObject({ nonce: 'n-1', external_id: SAM.id });
      });

      it('does not start if the origin of the pages has a final slash', async () => {
        const port = await freePort();
        const { serve } = framework.commands({ port, app: applicationFile });
        const environment = { PORT: String(port), COURSEGATE_PAGES_ORIGIN: 'https://login.gate.example/' };
        const { output } = await backend.run(framework.readSettings?.(applicationFile) ?? serve, { environment });
        expect(output).toMatch(/pages[_-]?origin\W* must be an origin/i);
      }, 120_000);

      it('refuses duplicate parameters', async () => {
        const { sso, sig } = question();
        const other = question({ nonce: 'n-2' });
        const good = new URLSearchParams({ sso, sig }).toString();
        for (const more of [`sso=${encodeURIComponent(other.sso)}`, `sig=${other.sig}`]) {
          for (const query of [`${more}&${good}`, `${good}&${more}`]) {
            expect((await get(`/coursegate/bridge?${query}`, cookieOf(browser))).status).toBe(400);
          }
        }
      });

      it('accepts sessions only, not assertions', async () => {
        const answer = await get(pathOf(question()), asserted(gate.assertion()));
        expect(answer.headers.get('location') ?? '').not.toContain(gate.origin);
      });
    });
  });
}
