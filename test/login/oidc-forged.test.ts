import { createHmac, createPublicKey } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportSPKI, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationRequest, registerApp } from '../support/app.ts';
import { type Browser, createBrowser, type Page } from '../support/browser.ts';
import { startWorld, type World } from '../support/world.ts';
import { type ScriptedIdp, type SigningKey, signedBy, signingKey, startScriptedIdp } from './support/scripted-idp.ts';

const SECRET = 'what both providers know of the gate';
let ahead = 0;
let a: ScriptedIdp;
let b: ScriptedIdp;
let world: World;
/** Records every request it receives. There must be none. */
let bait: { readonly url: string; readonly hits: string[]; close(): void };

const provider = (idp: ScriptedIdp, id: string, more: Record<string, unknown> = {}) => ({
  id,
  name: `Provider ${id}`,
  issuer: idp.issuer,
  clientId: `gate-at-${id}`,
  clientSecret: { env: 'IDP_SECRET' },
  ...more,
});

const settings = (more: Record<string, unknown> = {}, timeout = '2s') => ({
  login: { kind: 'oidc', timeout, providers: [provider(a, 'a', more), provider(b, 'b')] },
});

beforeAll(async () => {
  const hits: string[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  bait = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hits,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  a = await startScriptedIdp();
  b = await startScriptedIdp();
  world = await startWorld({
    profile: 'A',
    clock: () => Date.now() + ahead,
    environment: { IDP_SECRET: SECRET },
    overrides: settings(),
  });
});
afterAll(async () => {
  await world.close();
  await a.close();
  await b.close();
  bait.close();
});
beforeEach(() => {
  ahead = 0;
  a.reset();
  b.reset();
  bait.hits.length = 0;
});

/** An authorization request, stopped at the choice between the two providers. */
const begin = async (browser: Browser): Promise<Page> => {
  const app = await registerApp(world.origin);
  return browser.open((await authorizationRequest(app)).url);
};

const button = (page: Page, id: string): string => {
  const [, href = ''] = new RegExp(`href="([^"]*provider=${id}[^"]*)"`).exec(page.text) ?? [];
  return new URL(href.replaceAll('&amp;', '&'), page.url).href;
};

const isCallback = (url: string) => url.startsWith(`${world.origin}/oauth/sign-in/callback/`);

/** Signs in at a provider. Returns the browser, stopped at the redirect back to the gate. */
const stopAtCallback = async (id: string, browser = createBrowser()): Promise<{ browser: Browser; callback: URL }> => {
  const page = await browser.open(button(await begin(browser), id), (url) => !isCallback(url));
  return { browser, callback: new URL(page.location ?? `no:${page.status} ${page.text.slice(0, 300)}`) };
};

const signIn = async (id = 'a'): Promise<{ browser: Browser; page: Page }> => {
  const { browser, callback } = await stopAtCallback(id);
  return { browser, page: await browser.open(callback.href) };
};

const expectRefused = (browser: Browser, page: Page, status: number): void => {
  expect([page.status, page.text.includes('id="error"')]).toEqual([status, true]);
  expect(browser.cookies.has('coursegate_member')).toBe(false);
};

describe('two OpenID providers', () => {
  it('are offered by name, and have separate accounts even with the same sub and email', async () => {
    for (const idp of [a, b]) idp.claims = { sub: 'same', email: 'sam@school.test', email_verified: true };
    const browser = createBrowser();
    const choice = await begin(browser);
    expect(choice.text).toContain('Provider a');
    expect(choice.text).toContain('Provider b');
    expect(choice.text).toContain('Harbour Lane School</bdi> to continue to <bdi>Test App</bdi></h1>');
    expect(choice.text).toContain('value="deny">Cancel and go back to the app</button>');
    const first = await browser.open(button(choice, 'a'));
    expect(first.text).toContain('id="consent"');
    const second = await signIn('b');
    expect(second.page.text).toContain('id="consent"');
    const members = new Set<string>();
    for (const of of [browser, second.browser]) {
      const app = await registerApp(world.origin);
      const request = await authorizationRequest(app, { scope: 'openid' });
      const page = await of.open(request.url);
      const last = await of.submit(page, { decision: 'approve' }, (url) => !url.startsWith(app.redirectUri));
      const code = new URL(last.location ?? '').searchParams.get('code') ?? '';
      const body = new URLSearchParams({
        grant_type: 'authorization_code',
        code,
        redirect_uri: app.redirectUri,
        client_id: app.client.client_id,
        code_verifier: request.verifier,
        resource: app.resource,
      });
      const answer = (await (await fetch(app.server.token_endpoint ?? '', { method: 'POST', body })).json()) as {
        id_token: string;
      };
      const payload = Buffer.from(answer.id_token.split('.')[1] ?? '', 'base64url').toString();
      members.add((JSON.parse(payload) as { sub: string }).sub);
    }
    expect([...members]).toEqual(['a:same', 'b:same']);
  });

  it('cannot be mixed up: a code of one is never sent to the other', async () => {
    const { browser, callback } = await stopAtCallback('a');
    const other = await stopAtCallback('b');
    const onTheWrongRoute = new URL(callback.href.replace('/callback/a', '/callback/b'));
    expectRefused(browser, await browser.open(onTheWrongRoute.href), 400);
    expect([...a.hits, ...b.hits]).not.toContain('/token');

    const again = await stopAtCallback('a');
    again.callback.searchParams.set('code', other.callback.searchParams.get('code') ?? '');
    again.callback.searchParams.set('iss', b.issuer);
    expectRefused(again.browser, await again.browser.open(again.callback.href), 400);
    expect([...a.hits, ...b.hits]).not.toContain('/token');

    // Even with the right iss, B's code is only ever sent to A.
    const last = await stopAtCallback('a');
    last.callback.searchParams.set('code', other.callback.searchParams.get('code') ?? '');
    expectRefused(last.browser, await last.browser.open(last.callback.href), 400);
    expect(b.hits).not.toContain('/token');
  });
});

describe('the authorization response of a provider', () => {
  it.each<[string, (callback: URL) => void]>([
    ['without iss, though it is advertised', (url) => url.searchParams.delete('iss')],
    ['with the iss of the other provider', (url) => url.searchParams.set('iss', b.issuer)],
    ['with iss and a trailing slash', (url) => url.searchParams.set('iss', `${a.issuer}/`)],
    ['with two iss', (url) => url.searchParams.append('iss', b.issuer)],
    ['without state', (url) => url.searchParams.delete('state')],
    ['with two states', (url) => url.searchParams.append('state', 'x')],
    ['with another state', (url) => url.searchParams.set('state', 'x'.repeat(43))],
    ['without a code', (url) => url.searchParams.delete('code')],
    ['with two codes', (url) => url.searchParams.append('code', 'x')],
    [
      'with an error and another iss',
      (url) => {
        url.searchParams.set('error', 'access_denied');
        url.searchParams.set('iss', b.issuer);
      },
    ],
  ])('%s is refused, and its code is not sent', async (_, change) => {
    const { browser, callback } = await stopAtCallback('a');
    change(callback);
    expectRefused(browser, await browser.open(callback.href), 400);
    expect([...a.hits, ...b.hits]).not.toContain('/token');
  });

  it('is refused at the callback of another provider, whatever its iss is', async () => {
    const { browser, callback } = await stopAtCallback('a');
    callback.pathname = '/oauth/sign-in/callback/b';
    callback.searchParams.set('iss', b.issuer);
    expectRefused(browser, await browser.open(callback.href), 400);
    expect([...a.hits, ...b.hits]).not.toContain('/token');
  });

  it('with two states is refused, and does not use up the valid one', async () => {
    const { browser, callback } = await stopAtCallback('a');
    expectRefused(browser, await browser.open(`${callback.href}&state=x`), 400);
    expect((await browser.open(callback.href)).text).toContain('id="consent"');
  });

  it('is accepted once, in time, and in the browser that started', async () => {
    const { browser, callback } = await stopAtCallback('a');
    expectRefused(createBrowser(), await createBrowser().open(callback.href), 400);
    expect((await browser.open(callback.href)).text).toContain('id="consent"');
    browser.cookies.delete('coursegate_member');
    expectRefused(browser, await browser.open(callback.href), 400);
    const late = await stopAtCallback('a');
    ahead = 11 * 60_000;
    expectRefused(late.browser, await late.browser.open(late.callback.href), 400);
    expect(a.hits.filter((path) => path === '/token')).toHaveLength(1);
  });

  it.each(['access_denied', 'login_required', 'interaction_required'])('with %s signs no one in', async (error) => {
    a.back = (url) => {
      url.searchParams.delete('code');
      url.searchParams.set('error', error);
    };
    const { browser, page } = await signIn();
    expect([page.status, page.text.includes('id="login"')]).toEqual([200, true]);
    expect(browser.cookies.has('coursegate_member')).toBe(false);
  });

  it.each(['server_error', 'temporarily_unavailable', 'invalid_scope'])('with %s is a failure', async (error) => {
    a.back = (url) => {
      url.searchParams.delete('code');
      url.searchParams.set('error', error);
    };
    const { browser, page } = await signIn();
    expectRefused(browser, page, 503);
    // What came back is used up, so loading the page again would not help.
    expect(page.text).not.toContain('Try again');
    expect(page.text).toContain('Wait a moment, then go back and start again.');
  });
});

const unsigned = (header: object, claims: JWTPayload): string =>
  [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');

const hmac = (claims: JWTPayload, key: string | Buffer): string => {
  const text = unsigned({ alg: 'HS256', kid: 'k1' }, claims);
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
};

const seconds = () => Math.floor(Date.now() / 1000);
const es256: Promise<SigningKey> = signingKey('es', 'ES256');

describe('an ID token of a provider', () => {
  it('is accepted if valid, also with an EC key, and for several audiences with our azp', async () => {
    expect((await signIn()).page.text).toContain('id="consent"');
    a.claims = { aud: ['gate-at-a', 'another'], azp: 'gate-at-a' };
    expect((await signIn()).page.text).toContain('id="consent"');
    expect(a.redeemed?.get('code_verifier')).toMatch(/^[\w-]{43}$/);
    a.reset();
    a.key = await es256;
    a.published = [a.key];
    a.metadata = { id_token_signing_alg_values_supported: ['ES256'] };
    await world.restart(settings());
    expect((await signIn()).page.text).toContain('id="consent"');
  });

  it.each<[string, () => void | Promise<void>]>([
    [
      'with alg none',
      () => {
        a.sign = (claims) => `${unsigned({ alg: 'none' }, claims)}.`;
      },
    ],
    [
      'with alg None',
      () => {
        a.sign = (claims) => `${unsigned({ alg: 'None' }, claims)}.`;
      },
    ],
    [
      'with HS256 and the public key',
      () => {
        a.metadata = { id_token_signing_alg_values_supported: ['RS256', 'HS256'] };
        a.sign = async (claims) => hmac(claims, await exportSPKI(a.key.pair.publicKey));
      },
    ],
    [
      'with HS256 and the client secret',
      () => {
        a.metadata = { id_token_signing_alg_values_supported: ['RS256', 'HS256'] };
        a.sign = (claims) => hmac(claims, SECRET);
      },
    ],
    [
      'signed by an unpublished key',
      async () => {
        a.key = await signingKey('k2');
      },
    ],
    [
      'signed by another key with a known kid',
      async () => {
        a.key = await signingKey('k1');
      },
    ],
    [
      'with its own key in the header',
      async () => {
        const key = await signingKey('own');
        const jwk = createPublicKey(await exportSPKI(key.pair.publicKey)).export({ format: 'jwk' });
        a.sign = (claims) => signedBy(key, claims, { jwk });
      },
    ],
    [
      'with jku',
      () => {
        a.sign = (claims) => signedBy(a.key, claims, { jku: `${bait.url}/jku` });
      },
    ],
    [
      'with x5u',
      () => {
        a.sign = (claims) => signedBy(a.key, claims, { x5u: `${bait.url}/x5u` });
      },
    ],
    [
      'with x5c',
      () => {
        a.sign = (claims) => signedBy(a.key, claims, { x5c: ['MIIB'] });
      },
    ],
    [
      'with an ES256 signature of zeros',
      async () => {
        const key = await es256;
        a.metadata = { id_token_signing_alg_values_supported: ['ES256'] };
        a.published = [key];
        a.sign = (claims) =>
          `${unsigned({ alg: 'ES256', kid: 'es' }, claims)}.${Buffer.alloc(64).toString('base64url')}`;
      },
    ],
    [
      'that has expired',
      () => {
        a.claims = { exp: seconds() - 120 };
      },
    ],
    [
      'without exp',
      () => {
        a.claims = { exp: undefined };
      },
    ],
    [
      'not valid yet',
      () => {
        a.claims = { nbf: seconds() + 300 };
      },
    ],
    [
      'issued tomorrow',
      () => {
        a.claims = { iat: seconds() + 86_400, exp: seconds() + 90_000 };
      },
    ],
    [
      'for another client',
      () => {
        a.claims = { aud: 'another' };
      },
    ],
    [
      'for a longer client ID',
      () => {
        a.claims = { aud: 'gate-at-a2' };
      },
    ],
    [
      'for several clients without azp',
      () => {
        a.claims = { aud: ['gate-at-a', 'another'] };
      },
    ],
    [
      'for several clients with another azp',
      () => {
        a.claims = { aud: ['gate-at-a', 'another'], azp: 'another' };
      },
    ],
    [
      'with another nonce',
      () => {
        a.claims = { nonce: 'another' };
      },
    ],
    [
      'without nonce',
      () => {
        a.claims = { nonce: undefined };
      },
    ],
    [
      'of the issuer with a trailing slash',
      () => {
        a.claims = { iss: `${a.issuer}/` };
      },
    ],
    [
      'of another issuer',
      () => {
        a.claims = { iss: b.issuer };
      },
    ],
  ])('is refused: %s', async (_, forge) => {
    await forge();
    // Provider metadata is cached for an hour and keys for ten minutes, so the gate must start again to see the change.
    await world.restart(settings());
    const { browser, page } = await signIn();
    expectRefused(browser, page, 400);
    expect(bait.hits).toEqual([]);
  });

  it.each(['', ' ', 'x'.repeat(256), 'a\u0000b', 0])('with the sub %j is rejected', async (sub) => {
    a.claims = { sub };
    const { browser, page } = await signIn();
    expect([400, 503]).toContain(page.status);
    expect(browser.cookies.has('coursegate_member')).toBe(false);
  });
});

describe('the signing keys of a provider', () => {
  it('may change at any time, and are fetched again at a limited rate', async () => {
    await world.restart(settings());
    expect((await signIn()).page.text).toContain('id="consent"');
    const fetched = () => a.hits.filter((path) => path === '/jwks').length;
    expect(fetched()).toBe(1);
    a.key = await signingKey('k2');
    a.published = [a.key];
    ahead = 31_000;
    a.claims = { iat: seconds() + 31, exp: seconds() + 300 };
    expect((await signIn()).page.text).toContain('id="consent"');
    expect(fetched()).toBe(2);
    a.key = await signingKey('made-up');
    for (let round = 0; round < 3; round += 1) expectRefused(...(await refusal()), 400);
    expect(fetched()).toBe(2);
  });

  it('are used for a day while they cannot be fetched', async () => {
    await world.restart(settings());
    expect((await signIn()).page.text).toContain('id="consent"');
    a.answers['/jwks'] = (response) => response.writeHead(500).end();
    a.answers['/.well-known/openid-configuration'] = (response) => response.writeHead(500).end();
    ahead = 3 * 3600_000;
    a.claims = { iat: seconds() + 3 * 3600, exp: seconds() + 4 * 3600 };
    expect((await signIn()).page.text).toContain('id="consent"');
    ahead = 25 * 3600_000;
    const browser = createBrowser();
    expectRefused(browser, await browser.open(button(await begin(browser), 'a')), 503);
  });

  const refusal = async (): Promise<[Browser, Page]> => {
    const { browser, page } = await signIn();
    return [browser, page];
  };
});

describe('a failing provider', () => {
  const endless = (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    const write = (): void => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', write);
    write();
  };

  it.each<[string, (response: ServerResponse) => void]>([
    ['an HTML page', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>hello</p>')],
    ['invalid JSON', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{')],
    ['500', (response) => response.writeHead(500).end()],
    ['more than allowed', endless],
    ['nothing', () => {}],
    [
      'half a response',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"access_token":');
      },
    ],
    ['a closed connection', (response) => response.destroy()],
    ['a redirect to an internal address', (response) => response.writeHead(307, { location: `${bait.url}/in` }).end()],
    [
      'invalid_client',
      (response) => response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}'),
    ],
  ])('that responds with %s signs no one in, at any step', { retry: 2 }, async (what, answer) => {
    // Some never finish, and each of the three steps waits for them.
    const restart = () => world.restart(settings({}, ['nothing', 'half a response'].includes(what) ? '800ms' : '2s'));
    await restart();
    a.answers['/token'] = answer;
    const { browser, page } = await signIn();
    expectRefused(browser, page, 503);

    a.reset();
    await restart();
    a.answers['/jwks'] = answer;
    const keyless = await signIn();
    expectRefused(keyless.browser, keyless.page, 503);

    a.reset();
    await restart();
    a.answers['/.well-known/openid-configuration'] = answer;
    const other = createBrowser();
    const choice = await begin(other);
    expectRefused(other, await other.open(button(choice, 'a')), 503);
    // The gate still runs, the other provider is not affected, and this one is used again once it recovers.
    expect((await other.open(button(choice, 'b'))).text).toContain('id="consent"');
    a.reset();
    expect((await signIn()).page.text).toContain('id="consent"');
    expect(bait.hits).toEqual([]);
  });

  it.each<[string, () => Record<string, unknown>]>([
    ['has an issuer with a trailing slash', () => ({ issuer: `${a.issuer}/` })],
    ['has another issuer', () => ({ issuer: b.issuer })],
    ['has its sign-in page on plain http', () => ({ authorization_endpoint: 'http://school.test/authorize' })],
    ['has no sign-in page', () => ({ authorization_endpoint: undefined })],
    ['has no keys', () => ({ jwks_uri: undefined })],
  ])('is reported as failing if it %s', async (_, metadata) => {
    a.metadata = metadata();
    await world.restart(settings());
    const browser = createBrowser();
    expectRefused(browser, await browser.open(button(await begin(browser), 'a')), 503);
  });

  it('is not sent a code over plain http', async () => {
    a.metadata = { token_endpoint: 'http://school.test/token' };
    await world.restart(settings());
    const { browser, page } = await signIn();
    expectRefused(browser, page, 503);
  });
});
