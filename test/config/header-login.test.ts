import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const PROXIES = 'listen: { trustedProxies: [10.0.0.0/8] }\n';
const withLogin = (login: string, around = PROXIES) =>
  SMALL.replace(/^login:\n(?: {2}.*\n)+/m, `${around}login: { kind: header, ${login} }\n`);
const JWT =
  'jwt: { header: Cf-Access-Jwt-Assertion, jwks: "https://team.test/certs", issuer: "https://team.test", audience: abc }';

describe('login.kind: header', () => {
  it('removes its headers from requests to all upstreams', async () => {
    const { config } = await load(withLogin('user: X-SSO-Member, email: X-SSO-Email'));
    expect(config.upstreams.school?.headers.request.drop).toEqual(['X-SSO-Member', 'X-SSO-Email']);
    expect(config.login).toMatchObject({ returnParam: 'rd' });
    const upstream = 'school: { url: "http://127.0.0.1:4000" }';
    const own = 'school: { url: "http://127.0.0.1:4000", headers: { request: { drop: [X-Old] } } }';
    const more = withLogin('user: X-SSO-Member').replace(upstream.replaceAll('"', ''), own);
    expect((await load(more)).config.upstreams.school?.headers.request.drop).toEqual(['X-Old', 'X-SSO-Member']);
    const other = await load(withLogin(JWT, ''));
    expect(other.config.upstreams.school?.headers.request.drop).toEqual(['Cf-Access-Jwt-Assertion']);
  });

  it('requires trusted proxies for a plain header, and says so', async () => {
    const found = await mistakes(withLogin('user: X-Forwarded-User', ''));
    expect(found).toEqual([expect.stringContaining('login.user: is only accepted from listen.trustedProxies')]);
  });

  it.each<[string, string]>([
    ['signInUrl: /start', 'must have either `user` or `jwt`'],
    [`user: Remote-User, ${JWT}`, 'must have either `user` or `jwt`'],
    [`email: X-Email, ${JWT}`, 'login.email: cannot be set with `jwt`'],
    ['user: Authorization', 'login.user: is a header with another meaning'],
    ['user: Cookie', 'login.user: is a header with another meaning'],
    ['user: X-Forwarded-For', 'login.user: is a header with another meaning'],
    ['user: X_Forwarded_User', 'login.user: must be a header name without _'],
    [JWT.replace('https://team.test/certs', 'http://team.test/certs'), 'login.jwt.jwks: must be an https URL'],
    ['user: Remote-User, signInUrl: //evil.test', 'login.signInUrl: must be a path or an http(s) URL'],
  ])('refuses %s: %s', async (login, message) => {
    const found = await mistakes(withLogin(login));
    expect(found.join('\n')).toContain(message);
    expect(found).toHaveLength(1);
  });
});
