import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { authorizationRequest } from '../support/app.ts';
import { createBrowser } from '../support/browser.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { DEMANDS, expectUnmet, now, open, startGate, timesOf, UNKNOWN } from './support/auth-time.ts';
import { type ScriptedIdp, signedBy, startScriptedIdp } from './support/scripted-idp.ts';

let idp: ScriptedIdp;
let school: RecordingUpstream;
let me: Record<string, unknown>;
beforeAll(async () => {
  idp = await startScriptedIdp();
  school = await startRecordingUpstream((request, response) => {
    const known = request.headers.cookie !== undefined;
    response.writeHead(request.url === '/api/me' && !known ? 401 : 200, { 'content-type': 'application/json' });
    response.end(request.url === '/api/me' && known ? JSON.stringify(me) : '{}');
  });
});
afterAll(() => Promise.all([idp.close(), school.close()]));
beforeEach(() => {
  me = { id: 'm-7', signed_in_at: now() - 3600 };
});

describe('a sign-in at a proxy in front of the gate', () => {
  const listen = { trustedProxies: ['loopback'] };

  it('has no time if the proxy only sends a name, and cannot satisfy a request for one', async () => {
    const world = await startGate({
      listen,
      login: { kind: 'header', user: 'X-SSO-Member' },
    });
    try {
      const browser = createBrowser({ 'x-sso-member': '1001' });
      const first = await open(world, browser);
      expect(await timesOf(first, browser, first.page)).toEqual(UNKNOWN);
      for (const [, parameters, metadata] of DEMANDS) {
        await expectUnmet(browser, (await open(world, browser, parameters, metadata)).page);
      }
    } finally {
      await world.close();
    }
  });

  it('has the auth_time of a signed assertion, and otherwise none', async () => {
    const jwt = {
      header: 'X-Assertion',
      jwks: `${idp.issuer}/jwks`,
      issuer: 'https://proxy.test',
      audience: 'gate',
    };
    const world = await startGate({
      login: { kind: 'header', jwt, switchUrl: '/sign-out' },
    });
    const browserOf = async (claims: object) => {
      const times = { iat: now(), exp: now() + 300 };
      const assertion = await signedBy(idp.key, { iss: jwt.issuer, aud: 'gate', sub: '1001', ...times, ...claims });
      return createBrowser({ 'x-assertion': assertion });
    };
    try {
      const at = now() - 60;
      const browser = await browserOf({ auth_time: at });
      const first = await open(world, browser, { max_age: '600' });
      expect(await timesOf(first, browser, first.page)).toEqual({ introspected: at, inIdToken: at });
      const request = await authorizationRequest(first.app, { prompt: 'login' });
      const sent = await browser.open(request.url, (location) => !location.includes('/sign-out'));
      expect(new URL(sent.location ?? '').pathname).toBe('/sign-out');
      const back = new URL(sent.location ?? '').searchParams.get('rd') ?? '';
      expect((await browser.open(back)).text).toContain('<main id="login">');

      const silent = await browserOf({});
      const second = await open(world, silent);
      expect(await timesOf(second, silent, second.page)).toEqual(UNKNOWN);
      await expectUnmet(silent, (await open(world, silent, { max_age: '600' })).page);
    } finally {
      await world.close();
    }
  });
});

describe('a sign-in at the course site', () => {
  const browserAtSchool = () => {
    const browser = createBrowser();
    browser.cookies.set('school_session', { value: 'mine', path: '/' });
    return browser;
  };

  it('has no time without whoami.authTime, and cannot satisfy a request for one', async () => {
    const world = await startGate(
      { upstreams: { school: { url: school.url } } },
      {
        adjust: (config) => {
          if (config.login.kind !== 'session') throw new Error('the demo has another login');
          const { authTime: _, ...whoami } = config.login.whoami;
          return {
            ...config,
            login: {
              ...config.login,
              whoami: { ...whoami, authTime: undefined },
            },
          };
        },
      },
    );
    try {
      const browser = browserAtSchool();
      const first = await open(world, browser);
      expect(await timesOf(first, browser, first.page)).toEqual(UNKNOWN);
      for (const [, parameters, metadata] of DEMANDS) {
        await expectUnmet(browser, (await open(world, browser, parameters, metadata)).page);
      }
      const stranger = createBrowser();
      await expectUnmet(stranger, (await open(world, stranger, { prompt: 'login' })).page);
    } finally {
      await world.close();
    }
  });

  it('has the time of whoami.authTime, which does not change when the member returns', async () => {
    const world = await startGate({
      upstreams: { school: { url: school.url } },
    });
    try {
      const browser = browserAtSchool();
      const first = await open(world, browser, { max_age: '7200' });
      const at = me.signed_in_at;
      expect(await timesOf(first, browser, first.page)).toEqual({ introspected: at, inIdToken: at });
      const second = await open(world, browser, { prompt: 'login' });
      const back = world.origin + new URL(second.page.url).searchParams.get('return_to');
      expect((await browser.open(back)).text).toContain('<main id="login">');
    } finally {
      await world.close();
    }
  });
});
