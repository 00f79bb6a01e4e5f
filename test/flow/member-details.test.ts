import { decodeJwt } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import { DETAIL_NAMES } from '../../src/oauth/member-details.ts';
import { bearer, registerApp } from '../support/app.ts';
import { connectSignedIn, type Tokens } from '../support/connection.ts';
import { DOCUMENTED_DETAILS } from '../support/documented-details.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld } from '../support/world.ts';

it('is documented', () => {
  expect(DOCUMENTED_DETAILS.map(({ setting }) => setting)).toEqual(DETAIL_NAMES);
});

it('goes from the login to apps with its scope, and to backends as a field and a claim', async () => {
  const said = Object.fromEntries(DOCUMENTED_DETAILS.map(({ setting }) => [setting, `The ${setting} of Ann`]));
  const upstream = await startRecordingUpstream((request, response) => {
    const known = request.headers.cookie?.includes('school_session=ann') || request.url !== '/api/me';
    response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'ann', ...said }));
  });
  onTestFinished(() => upstream.close());
  const world = await startWorld({
    profile: 'A',
    overrides: {
      upstreams: { school: { url: upstream.url } },
      login: { whoami: Object.fromEntries(DOCUMENTED_DETAILS.map(({ setting }) => [setting, `/${setting}`])) },
      routes: [{ match: 'GET /api/own', upstream: 'school', scopes: ['openid'] }],
    },
  });
  onTestFinished(() => world.close());
  const app = await registerApp(world.origin);
  const connect = async (scope: string) => {
    const { tokens } = await connectSignedIn(app, { school_session: 'ann' }, { scope });
    return tokens as unknown as Tokens;
  };
  const get = (path: string, { access_token }: Tokens) =>
    fetch(`${world.origin}${path}`, { headers: bearer(access_token) });

  for (const { setting, claim, scope, header } of DOCUMENTED_DETAILS) {
    const tokens = await connect(`openid ${scope}`);
    const userinfo = (await (await get('/api/oauth/userinfo', tokens)).json()) as Record<string, unknown>;
    expect(userinfo).toEqual({ sub: 'ann', [claim]: said[setting] });
    expect((await get('/api/own', tokens)).status).toBe(200);
    const [field = '', assertion = ''] = [header, 'X-Coursegate-Assertion'].flatMap((name) =>
      upstream.last().values(name),
    );
    expect(decodeURIComponent(field)).toBe(said[setting]);
    expect(decodeJwt(assertion)[claim]).toBe(said[setting]);
  }
});
