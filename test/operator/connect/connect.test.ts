import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ConnectError } from '../../../src/operator/connect/connect-error.ts';
import { explain } from '../../../src/operator/connect/oauth/explain.ts';
import { rawRequest } from '../../support/raw.ts';
import { CookieBrowser } from './support/cookie-browser.ts';
import { runConnect as run } from './support/run-connect.ts';
import { startTestGate, type TestGate, type TestGateOptions } from './support/test-gate.ts';

let gate: TestGate | undefined;

afterEach(async () => {
  await gate?.close();
  gate = undefined;
});

async function start(options: TestGateOptions = {}): Promise<TestGate> {
  gate = await startTestGate(options);
  return gate;
}

describe('connect', () => {
  it('completes the whole flow, prints the courses, and leaves nothing behind', async () => {
    const { origin, clients } = await start();
    const { progress, data, error } = await run(origin);
    expect(error).toBeUndefined();
    expect(data.split('\n')).toEqual([
      'Member member-1, student@example.com',
      'student@example.com (id member-1): 2 courses',
      '',
      'COURSE                   ACCESS UNTIL  LAST WATCHED',
      'intro-to-pottery         2027-03-01    lecture l-7 at 1:02:05',
      'drawing-for-<beginners>  for life      not started',
      'Courses of the site: 1 course',
    ]);
    expect(progress.match(/^✓ .+ \(\d+ ms\)$/gm)).toHaveLength(12);
    expect(progress).toContain('✓ Checking that the token was revoked');
    expect(progress).toMatch(/✓ Everything works\.$/);
    expect(await clients()).toEqual([]);
  });

  it('sends PKCE, state, the advertised resource and the offered scopes', async () => {
    const { origin } = await start();
    let asked: URL | undefined;
    await run(`${origin}/mcp`, {
      open: (address) => {
        asked = new URL(address);
      },
      timeout: 0.2,
    });
    const parameters = Object.fromEntries(asked?.searchParams ?? []);
    expect(asked?.pathname).toBe('/oauth/authorize');
    expect(parameters).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: origin,
      scope: 'openid account:read courses:read',
    });
    expect(parameters.redirect_uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  });

  it('prints no date for a course whose expiry is not a date', async () => {
    const odd = ['never', '', 'NaN', 1e300, {}, null, 0].map((expires_at, at) => ({ slug: `odd-${at}`, expires_at }));
    const { origin } = await start({ account: false, courses: odd });
    const { data, error } = await run(origin);
    expect(error).toBeUndefined();
    expect(data.match(/^odd-\d +–/gm)).toHaveLength(odd.length);
  });

  it('reads the courses over REST if there is no Account API', async () => {
    const { origin } = await start({ account: false });
    const { data, error } = await run(origin);
    expect(error).toBeUndefined();
    expect(data).toContain('Courses of the site: 1 course');
    expect(data).toMatch(/^rest-course +2027-01-15 +–$/m);
  });

  it('succeeds if nothing can be read, as long as the token is active', async () => {
    const { origin } = await start({ account: false, reads: 503 });
    const { progress, data, error } = await run(origin);
    expect([error, data]).toEqual([undefined, '']);
    expect(progress).toMatch(/^– \S+\/userinfo answered 503 without usable data\./m);
    expect(progress).toContain('✓ Checking that the token is active');
    expect(progress).toMatch(/✓ The connection works\./);
  });

  it('fails if nothing accepts the token', async () => {
    const { origin } = await start({ reads: 401, metadata: (document) => delete document.introspection_endpoint });
    const { error } = await run(origin);
    expect(error?.message).toBe('The site issued a token, but nothing there accepts it.');
  });

  it('reports that the member declined, and deletes the registration', async () => {
    const { origin, clients } = await start({ deny: true });
    const { error } = await run(origin);
    expect(error).toBeInstanceOf(ConnectError);
    expect(error?.message).toBe(
      'Cancelled: the server answered access_denied (The member said no). Nothing was connected.',
    );
    expect(error?.end).toBe('declined');
    expect(error?.advice).toContain('approve');
    expect(await clients()).toEqual([]);
  });

  it('does not report a failed deletion', async () => {
    const { origin } = await start({ hangsUpOnDeletion: true });
    const { progress, error } = await run(origin);
    expect(error).toBeUndefined();
    expect(progress).toContain('✓ Everything works.');
    expect(progress).not.toContain('Registration deleted');
  });

  it('refuses foreign requests to the callback, and keeps waiting for its own response', async () => {
    const { origin } = await start();
    const statuses: number[] = [];
    const { error } = await run(origin, {
      open: async (address) => {
        const redirect = new URL(new URL(address).searchParams.get('redirect_uri') ?? '');
        const state = new URL(address).searchParams.get('state') ?? '';
        const ask = async (url: URL | string, init?: RequestInit) => {
          const response = await fetch(url, init);
          statuses.push(response.status);
          return response.text();
        };
        await ask(new URL('/favicon.ico', redirect));
        const page = await ask(`${redirect}?code=stolen&state=wrong`);
        expect(page).not.toContain('stolen');
        await ask(`${redirect}?code=stolen&state=wrong&state=${state}`);
        await ask(`${redirect}?code=stolen&state=${state}`, { method: 'POST' });
        await new CookieBrowser().follow(address);
      },
    });
    expect(statuses).toEqual([404, 400, 400, 404]);
    expect(error).toBeUndefined();
  });

  it('prints a short address that leads to the site, only on this machine and only while it waits', async () => {
    const { origin } = await start();
    const printed: string[] = [];
    const led: (string | number | null)[] = [];
    let short = '';
    const { error } = await run(origin, {
      print: (line) => printed.push(line),
      open: async (address) => {
        short =
          /^Sign in and approve here:\n\n {2}(\S+)\n$/.exec(printed.find((line) => line.includes('here')) ?? '')?.[1] ??
          '';
        const { status, headers, text } = await rawRequest(short, { path: '/' });
        led.push(status, headers.location === address ? 'the request' : text, headers['cache-control'] ?? null);
        led.push((await rawRequest(short, { path: '/', headers: { host: 'evil.example' } })).status);
        led.push((await rawRequest(short, { path: '/', method: 'POST' })).status);
        await new CookieBrowser().follow(short);
      },
    });
    expect(error).toBeUndefined();
    expect(short).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(led).toEqual([302, 'the request', 'no-store', 404, 404]);
  });

  it('refuses a response from another issuer', async () => {
    const { origin } = await start({ redirect: (url) => url.searchParams.set('iss', 'https://evil.example') });
    const { error, data } = await run(origin);
    expect(error?.message).toMatch(/Exchanging the code .*iss/);
    expect(data).toBe('');
  });

  it('refuses a server without S256, and one whose issuer does not match its address', async () => {
    const plain = await start({ metadata: (document) => delete document.code_challenge_methods_supported });
    expect((await run(plain.origin)).error?.message).toContain('S256');
    await plain.close();
    const other = await start({
      metadata: (document) => {
        document.issuer = 'https://other.example';
      },
    });
    const { error } = await run(other.origin);
    expect(error?.message).toContain('"https://other.example" as its issuer');
    expect(error?.advice).toContain('origin');
  });

  it('refuses metadata with a plain http endpoint on another host', async () => {
    const { origin } = await start({
      metadata: (document) => {
        document.registration_endpoint = 'http://school.example/register';
      },
    });
    expect((await run(origin)).error?.message).toContain('http://school.example is not https');
  });

  it('fails if the site still accepts a revoked token', async () => {
    const { origin } = await start({ deafToRevocation: true });
    expect((await run(origin)).error?.message).toContain('after it was revoked');
    await gate?.close();
    const failing = await start({ failsAfterRevocation: true });
    const { error, progress } = await run(failing.origin);
    expect(error?.message).toMatch(/ answered 503 without usable data\.$/);
    expect(progress).toContain('✗ Checking that the token was revoked');
  });

  it('gives up after the timeout, and immediately when aborted', async () => {
    const { origin, clients } = await start();
    const late = await run(origin, { open: () => undefined, timeout: 0.2 });
    expect(late.error?.message).toBe('The browser did not come back from the site within 0.2 seconds.');
    const stop = new AbortController();
    const stopped = await run(origin, { open: () => stop.abort(), signal: stop.signal });
    expect(stopped.error).toBeInstanceOf(ConnectError);
    expect(stopped.error?.message).toBe('Cancelled. Nothing stays connected.');
    expect(await clients()).toEqual([]);
  });

  it('continues if the browser cannot be opened', async () => {
    const { origin } = await start();
    const { error } = await run(origin, {
      open: (address) => {
        setTimeout(() => void new CookieBrowser().follow(address), 20);
        throw new Error('no display');
      },
    });
    expect(error).toBeUndefined();
  });

  it.each([
    [new DOMException('', 'TimeoutError'), 'unreachable', /^Reading failed: the server did not answer in time\.$/],
    [new DOMException('', 'AbortError'), 'interrupted', /^Cancelled\./],
    [new Error('odd\u001b[2J'), 'failed', /^Reading failed: odd\P{Cc}*\.$/u],
    ['text', 'failed', /^Reading failed: something unexpected happened\.$/],
  ])('explains %s', (thrown, end, says) => {
    const { message, advice, ...error } = explain(thrown, 'Reading');
    expect([message, error.end]).toEqual([expect.stringMatching(says), end]);
    expect(advice === '').toBe(end === 'interrupted');
  });

  it('explains what is wrong with an address', async () => {
    expect((await run('ftp://school.example')).error?.message).toContain('is not a web address');
    expect((await run('http://school.example')).error?.message).toContain('is not https');
    expect((await run('http://localhost:1')).error?.message).toContain('Finding the protected resource failed');
    const plain = createServer((_request, response) => response.writeHead(404).end());
    await new Promise<void>((resolve) => plain.listen(0, 'localhost', resolve));
    const { error } = await run(`localhost:${(plain.address() as AddressInfo).port}`);
    expect(error?.message).toMatch(/\/\.well-known\/oauth-protected-resource answered 404\.$/);
    plain.close();
    plain.closeAllConnections();
  });
});
