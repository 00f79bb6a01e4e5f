import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { type App, bearer, introspect, registerApp } from '../support/app.ts';
import { connectSignedIn, refreshForm, type Tokens, token } from '../support/connection.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { startWorld, type World } from '../support/world.ts';

type Json = Record<string, unknown>;

const CLAIMS = {
  roles: { scope: 'profile', from: '/school/roles' },
  org_id: { scope: 'openid', value: 'harbour-lane' },
  'https://school.example/plan': { scope: 'account:read', from: '/plan' },
};

/** A school whose whoami says more about a member than who they are. */
describe('claims from whoami or the configuration', () => {
  let upstream: RecordingUpstream;
  let world: World;
  let app: App;
  let said: Json;
  const school = () => ({
    upstreams: { school: { url: upstream.url } },
    login: { whoami: { emailVerified: '/verified' } },
  });
  beforeAll(async () => {
    upstream = await startRecordingUpstream((request, response) => {
      const [, id] = /school_session=(\w+)/.exec(request.headers.cookie ?? '') ?? [];
      const known = request.url === '/api/me' && id !== undefined;
      response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ id, email: `${id}@school.example`, name: 'Ann Ample', ...said }));
    });
    world = await startWorld({
      profile: 'A',
      overrides: { ...school(), claims: CLAIMS },
    });
    app = await registerApp(world.origin);
  });
  afterAll(() => Promise.all([world.close(), upstream.close()]));
  beforeEach(() => {
    said = { verified: true, plan: { name: 'gold', seats: 3 }, school: { roles: ['teacher', 'author'] } };
  });

  const connect = async (scope = 'openid profile email account:read') => {
    const { tokens } = await connectSignedIn(app, { school_session: 'ann' }, { scope });
    return tokens as unknown as Tokens & Json;
  };
  const userinfo = async ({ access_token }: Tokens): Promise<Json> => {
    const answer = await fetch(`${world.origin}/api/oauth/userinfo`, { headers: bearer(access_token) });
    expect(answer.status).toBe(200);
    return (await answer.json()) as Json;
  };
  const refresh = async ({ refresh_token }: Tokens) =>
    (await token(app, refreshForm(app, refresh_token))).body as unknown as Tokens & Json;
  const further = ({ roles, org_id, 'https://school.example/plan': plan }: Json) => ({ roles, org_id, plan });

  it('are included in the token response and in userinfo, each with its scope', async () => {
    const all = { roles: ['teacher', 'author'], org_id: 'harbour-lane', plan: { name: 'gold', seats: 3 } };
    const tokens = await connect();
    expect(further(tokens)).toEqual(all);
    expect(await userinfo(tokens)).toEqual({
      sub: 'ann',
      email: 'ann@school.example',
      email_verified: true,
      name: 'Ann Ample',
      roles: all.roles,
      org_id: all.org_id,
      'https://school.example/plan': all.plan,
    });
    const few = await connect('openid');
    expect(further(few)).toEqual({ roles: undefined, org_id: 'harbour-lane', plan: undefined });
    expect(await userinfo(few)).toEqual({ sub: 'ann', org_id: 'harbour-lane' });
    expect(further(await connect('account:read'))).toEqual({ roles: undefined, org_id: undefined, plan: all.plan });
  });

  it('are left out of the ID token and of introspection', async () => {
    const tokens = await connect();
    const { sub, ...rest } = decodeJwt(String(tokens.id_token));
    expect(sub).toBe('ann');
    for (const other of [rest, await introspect(app, tokens.access_token)]) {
      for (const name of ['email', 'email_verified', ...Object.keys(CLAIMS)]) expect(other).not.toHaveProperty([name]);
    }
  });

  it('are included after a refresh and a restart, as whoami last returned them', async () => {
    let tokens = await connect();
    said = { verified: false, school: { roles: ['student'] } };
    await world.restart();
    tokens = await refresh(tokens);
    expect(further(tokens).roles).toEqual(['teacher', 'author']);
    expect(await userinfo(tokens)).toMatchObject({ email_verified: true, roles: ['teacher', 'author'] });
    // The next sign-in tells the gate, for every app of the member.
    await connect();
    tokens = await refresh(tokens);
    expect(further(tokens)).toEqual({ roles: ['student'], org_id: 'harbour-lane', plan: undefined });
    expect(await userinfo(tokens)).toMatchObject({ email_verified: false, roles: ['student'] });
  });

  it('are the same in a repeated token response', async () => {
    const first = await connect();
    const second = await refresh(first);
    expect(further(second).roles).toEqual(['teacher', 'author']);
    expect(await refresh(first)).toEqual(second);
  });

  it.each([
    ['a string, as in headers', 'true', true],
    ['a number, as in databases', 0, false],
    ['nothing', undefined, undefined],
    ['null', null, undefined],
    ['a date', '2026-01-01', undefined],
  ])('email_verified is derived from %s', async (_, verified, expected) => {
    said = { verified };
    const { email, email_verified } = await userinfo(await connect());
    expect({ email, email_verified }).toEqual({ email: 'ann@school.example', email_verified: expected });
  });

  it('email_verified is left out without an email', async () => {
    said = { verified: true, email: null };
    expect(await userinfo(await connect())).not.toHaveProperty('email_verified');
  });

  it.each([
    ['missing', {}],
    ['null', { school: { roles: null } }],
    ['of more than 1024 bytes', { school: { roles: 'x'.repeat(1023) } }],
  ])('that are %s are left out', async (_, answer) => {
    said = answer;
    const tokens = await connect();
    expect(tokens).not.toHaveProperty('roles');
    expect(await userinfo(tokens)).not.toHaveProperty('roles');
  });

  it('are listed in the metadata and in /openapi.json', async () => {
    for (const name of ['oauth-authorization-server', 'openid-configuration']) {
      const metadata = (await (await fetch(`${world.origin}/.well-known/${name}`)).json()) as Json;
      expect(metadata.claims_supported).toEqual(
        expect.arrayContaining(['sub', 'name', 'email', 'email_verified', ...Object.keys(CLAIMS)]),
      );
    }
    const { components } = (await (await fetch(`${world.origin}/openapi.json`)).json()) as {
      components: { schemas: Record<string, { properties: Json }> };
    };
    for (const name of ['TokenResponse', 'Userinfo']) {
      expect(components.schemas[name]?.properties.roles).toEqual({ description: 'With the scope profile.' });
    }
  });

  it('are no longer released once they are removed from the configuration', async () => {
    const tokens = await connect();
    expect((await world.reload(school())).kind).toBe('taken');
    expect(await userinfo(tokens)).not.toHaveProperty('roles');
    expect(further(await refresh(tokens))).toEqual({ roles: undefined, org_id: undefined, plan: undefined });
  });
});

describe('the configuration of a claim', () => {
  const problemsOf = async (overrides: Json): Promise<string> => {
    const environment = { COURSEGATE_DATA: '/tmp' };
    const file = new URL('../../config/coursegate.yaml', import.meta.url).pathname;
    return loadConfig({ file, environment, overrides }).then(
      () => '',
      (thrown: Error) => thrown.message,
    );
  };

  it.each([
    'iss',
    'sub',
    'aud',
    'exp',
    'access_token',
    'refresh_token',
    'scope',
    'error',
    'email',
    'cnf',
    'constructor',
  ])('refuses the name %s', async (name) => {
    const problems = await problemsOf({ claims: { [name]: { scope: 'openid', value: 'x' } } });
    expect(problems).toContain(`claims.${name}`);
    expect(problems).toContain('is the name of a standard claim or member of the token response');
  });

  it.each<[string, Json, string]>([
    ['neither value nor from', { org: { scope: 'openid' } }, 'must have either `value` or `from`'],
    ['both value and from', { org: { scope: 'openid', value: 1, from: '/x' } }, 'must have either `value` or `from`'],
    ['no scope', { org: { value: 1 } }, 'scope'],
    ['an unknown scope', { org: { scope: 'orders', value: 1 } }, 'claims.org.scope'],
    ['an invalid pointer', { org: { scope: 'openid', from: 'roles' } }, 'must be a JSON pointer'],
    ['a long value', { org: { scope: 'openid', value: 'x'.repeat(1023) } }, 'must be at most 1024 bytes'],
    ['a bad name', { 'org id': { scope: 'openid', value: 1 } }, 'without spaces'],
    [
      'seventeen claims',
      Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`c${index}`, { scope: 'openid', value: 1 }])),
      'must be at most 16 claims',
    ],
  ])('refuses %s', async (_, claims, problem) => {
    expect(await problemsOf({ claims })).toContain(problem);
  });

  it('refuses a pointer with a login that does not respond in JSON', async () => {
    const claims = { roles: { scope: 'openid', from: '/roles' } };
    const problem = 'needs a login that answers in JSON';
    expect(await problemsOf({ claims, login: { whoami: { format: 'header', subject: 'X-Id' } } })).toContain(problem);
    expect(await problemsOf({ claims })).toBe('');
  });
});
