import { describe, expect, it } from 'vitest';
import { load, mistakes, SMALL } from './fixture.ts';

const GOOD = '{ id: idp, name: School, issuer: "https://idp.test", clientId: gate }';
const withProviders = (...providers: string[]) =>
  SMALL.replace(/^login:\n(?: {2}.*\n)+/m, `login:\n  kind: oidc\n  providers: [${providers.join(', ')}]\n`);
const changed = (from: string, to: string) => withProviders(GOOD.replace(from, to));

describe('login.kind: oidc', () => {
  it('has few required settings, and by default admits every account of the provider by the provider’s ID', async () => {
    const { config } = await load(withProviders(GOOD));
    expect(config.login).toMatchObject({
      kind: 'oidc',
      timeout: 5,
      session: 1800,
      providers: [
        {
          scope: 'openid email profile',
          claims: { email: 'email', name: 'name' },
          requireVerifiedEmail: false,
          allow: { claims: {} },
        },
      ],
    });
    expect(config.login).not.toHaveProperty('providers[0].claims.subject');
  });

  it.each(['http://localhost:8080/realms/school', 'http://127.0.0.1', 'http://[::1]:3000', 'https://idp.test/a/'])(
    'accepts the issuer %s',
    async (issuer) => {
      await load(changed('https://idp.test', issuer));
    },
  );

  it.each<[string, string, string]>([
    ['https://idp.test', 'http://idp.test', 'login.providers[0].issuer: must be an https URL'],
    ['https://idp.test', 'http://localhost.idp.test', 'login.providers[0].issuer: must be an https URL'],
    ['https://idp.test', 'http://127.0.0.1@idp.test', 'login.providers[0].issuer: must be an https URL'],
    ['https://idp.test', 'https://idp.test/?a=b', 'login.providers[0].issuer: must be an https URL'],
    ['https://idp.test', 'idp.test', 'login.providers[0].issuer: must be an https URL'],
    ['id: idp', 'id: "a/b"', 'login.providers[0].id: must be at most 32 lower-case letters'],
    ['id: idp', 'id: "a:b"', 'login.providers[0].id: must be at most 32 lower-case letters'],
    ['clientId: gate', 'clientId: gate, scope: email', 'login.providers[0].scope: must include openid'],
    ['clientId: gate', 'clientId: gate, clientSecret: abc', 'login.providers[0].clientSecret: must be { env: NAME }'],
    ['clientId: gate', 'clientId: gate, allow: { emailDomains: ["@a.test"] }', 'must be a domain such as school.edu'],
  ])('refuses %s instead of %s: %s', async (from, to, message) => {
    const found = await mistakes(changed(from, to));
    expect(found.join('\n')).toContain(message);
    expect(found).toHaveLength(1);
  });

  it('refuses duplicate provider IDs, and a mix of provider and backend member IDs', async () => {
    expect(await mistakes(withProviders(GOOD, GOOD))).toEqual([
      expect.stringContaining('login.providers[1].id: is already the id of another provider'),
    ]);
    const mapped = GOOD.replace('id: idp', 'id: other, claims: { subject: school_id }');
    expect(await mistakes(withProviders(GOOD, mapped))).toEqual([
      expect.stringContaining('login.providers[1].claims: must set `subject` for every provider or for none'),
    ]);
    await load(withProviders(mapped, mapped.replace('other', 'third')));
  });
});
