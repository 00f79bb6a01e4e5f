import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approve } from '../support/member.ts';
import { startWorld, type World } from '../support/world.ts';
import { headings, type Instruction, instructions, send, tableUnder } from './support/markdown.ts';

const REDIRECT = 'https://agent.example/callback';

describe.each([{ profile: 'A' }, { profile: 'B' }])('/auth.md in Profile $profile', ({ profile }) => {
  let world: World;
  let text: string;
  let server: Record<string, string> & Record<string, string[]>;
  let resource: Record<string, string> & Record<string, string[]>;

  beforeAll(async () => {
    world = await startWorld({ profile });
    text = await (await fetch(`${world.origin}/auth.md`)).text();
    server = (await (await fetch(`${world.origin}/.well-known/oauth-authorization-server`)).json()) as never;
    resource = (await (await fetch(`${world.origin}/.well-known/oauth-protected-resource`)).json()) as never;
  });
  afterAll(() => world.close());

  const cells = (heading: string) => new Map(tableUnder(text, heading).map(([name = '', value = '']) => [name, value]));

  it('has the sections of the convention in order', () => {
    expect(text.split('\n', 1)[0]).toBe('# auth.md');
    expect(text).not.toMatch(/Terms of service|Privacy policy/);
    expect(headings(text)).toEqual([
      'agent_auth is not supported',
      '1. Discover',
      '2. Pick a method',
      '3. Register',
      '4. Authorize',
      '5. Exchange and refresh',
      '6. Use',
      'Scopes',
      'Errors',
      'Revocation',
      'Limits',
    ]);
  });

  it('states that agent_auth is not supported, like the metadata', () => {
    const section = text.slice(text.indexOf('## agent_auth'), text.indexOf('## 1.'));
    const words = ['identity_assertion', 'ID-JAG', 'service_auth', 'claim', 'identity_endpoint', 'register_uri'];
    for (const word of words) expect(section).toContain(word);
    expect(section).toContain('Never ask a member for their password.');
    expect(JSON.stringify([server, resource])).not.toMatch(
      /agent_auth|identity_assertion|identity_endpoint|register_uri|service_auth|claim_endpoint/,
    );
  });

  it('names only addresses that the metadata names and that exist', async () => {
    const named = new Set([...text.matchAll(/https?:\/\/[^\s`"<>)|]+/g)].map(([url]) => url));
    const metadata = JSON.stringify([server, resource]);
    const known = [
      `${world.origin}/.well-known/oauth-authorization-server`,
      `${world.origin}/.well-known/openid-configuration`,
      `${world.origin}/openapi.json`,
      ...['', '/mcp', '/mcp/member'].map((path) => `${world.origin}/.well-known/oauth-protected-resource${path}`),
      ...['/mcp', '/mcp/member', ...(profile === 'A' ? ['/account/graphql'] : [])].map((path) => world.origin + path),
    ];
    const strangers = [...named].filter((url) => !known.includes(url) && !metadata.includes(`"${url}"`));
    expect(strangers).toEqual([]);
    expect(known.filter((url) => !named.has(url))).toEqual([]);
    const endpoints = Object.entries(server).filter(([name]) => /_endpoint$|^jwks_uri$/.test(name));
    expect(endpoints.filter(([, url]) => !named.has(String(url)))).toEqual([]);
    for (const url of named) {
      // The path / of the origin is the school's home page.
      if (url === world.origin) continue;
      const { status } = await fetch(url, { method: 'POST', redirect: 'manual' });
      expect({ url, there: status !== 404 }).toEqual({ url, there: true });
    }
  });

  it('has the same service, issuer and resource as the metadata', async () => {
    const where = cells('# auth.md');
    expect(where.get('Issuer')).toBe(server.issuer);
    expect(where.get('Resource')).toBe(resource.resource);
    expect(where.get('Service')).toBe(world.origin);
    expect(where.get('Account API (GraphQL)')).toBe(profile === 'A' ? `${world.origin}/account/graphql` : undefined);
    for (const [document, url] of cells('1. Discover')) {
      expect({ document, status: (await fetch(url)).status }).toEqual({ document, status: 200 });
    }
  });

  it('is linked from the metadata', () => {
    expect(server.service_documentation).toBe(`${world.origin}/auth.md`);
    expect(resource.resource_documentation).toBe(`${world.origin}/auth.md`);
  });

  it('lists the scopes of the metadata in order', () => {
    expect([...cells('Scopes').keys()]).toEqual(server.scopes_supported);
    expect(cells('Scopes').get('courses:read')).toBe('Browse the course catalogue');
  });

  it('lists valid values for an authorization request', () => {
    const parameters = cells('4. Authorize');
    expect(server.response_types_supported).toEqual([parameters.get('response_type')]);
    expect(server.code_challenge_methods_supported).toEqual([parameters.get('code_challenge_method')]);
    const name = profile === 'A' ? 'resource' : 'resource (optional)';
    expect(parameters.get(name)).toBe(resource.resource);
    expect([...parameters.keys()]).toHaveLength(8);
  });

  it('lists the registration, authentication and token binding methods of the metadata', () => {
    expect(text.includes('**Client ID metadata document.**')).toBe(server.client_id_metadata_document_supported);
    expect(text).toContain(`\`${server.token_endpoint_auth_methods_supported?.join('`, confidential ones `')}\``);
    expect(text).toContain(`signed with \`${server.dpop_signing_alg_values_supported?.join('`, `')}\``);
    const grants = [...text.matchAll(/grant_type=(\w+)/g)].map(([, grant]) => grant);
    expect(grants).toEqual(server.grant_types_supported);
  });

  it('lists all tools with the scopes they need', async () => {
    const tools = tableUnder(text, '6. Use');
    const listed = await send({ method: 'POST', url: `${world.origin}/mcp`, headers: MCP, body: LIST });
    const names = ((listed.body as { result: { tools: { name: string }[] } }).result.tools ?? []).map(
      ({ name }) => name,
    );
    expect(tools.filter(([, , scopes]) => scopes === 'none: public').map(([name]) => name)).toEqual(names);
    const others = tools.filter(([, , scopes]) => scopes !== 'none: public');
    expect(others.map(([name]) => name)).toContain('get_my_account');
    for (const scope of others.flatMap(([, , scopes = '']) => scopes.split(', '))) {
      expect(server.scopes_supported).toContain(scope);
    }
  });

  it('takes an agent that follows it literally from discovery to revocation', async () => {
    const blocks = instructions(text);
    const find = (start: string): Instruction => {
      const found = blocks.find((one) => `${one.method} ${one.url}\n${one.body}`.includes(start));
      if (found === undefined) throw new Error(`there is no block for ${start}`);
      return found;
    };
    const known = new Map([
      ['name of your app', 'Agent'],
      ['redirect_uri', REDIRECT],
    ]);
    const registered = await send(find('redirect_uris'), known);
    expect(registered.status).toBe(201);
    known.set('client_id', String(registered.body.client_id));

    known.set('code_verifier', randomBytes(32).toString('base64url'));
    const state = randomBytes(8).toString('hex');
    const url = new URL(/GET `([^`]+)` with/.exec(text)?.[1] ?? '');
    const yours: Record<string, string> = {
      client_id: known.get('client_id') ?? '',
      redirect_uri: REDIRECT,
      scope: [...cells('Scopes').keys()]
        .filter((scope) => /^(openid|email|account:read|courses:read)$/.test(scope))
        .join(' '),
      code_challenge: createHash('sha256')
        .update(known.get('code_verifier') ?? '')
        .digest('base64url'),
      state,
    };
    for (const [name, value] of cells('4. Authorize')) {
      if (!name.endsWith('(optional)')) url.searchParams.set(name, yours[name] ?? value);
    }
    const returned = await approve(url.href, REDIRECT);
    expect(returned.searchParams.get('state')).toBe(state);
    expect(returned.searchParams.get('iss')).toBe(cells('# auth.md').get('Issuer'));
    known.set('code', String(returned.searchParams.get('code')));

    const lives = new Map(
      tableUnder(text, '5. Exchange and refresh').map(([what = '', , seconds]) => [what, Number(seconds)]),
    );
    const first = await send(find('grant_type=authorization_code'), known);
    expect(first).toMatchObject({ status: 200, body: { expires_in: lives.get('Access token') } });
    known.set('refresh_token', String(first.body.refresh_token));
    const asked = {
      method: 'POST',
      headers: FORM,
      body: `token=${first.body.refresh_token}&client_id=${known.get('client_id')}`,
    };
    const about = await send({ ...asked, url: server.introspection_endpoint ?? '' });
    expect(Number(about.body.exp) - Number(about.body.iat)).toBe(lives.get('Refresh token, unused'));
    expect((await send(find('grant_type=refresh_token'), known)).status).toBe(200);
    const second = await send(find('grant_type=refresh_token'), known);
    known.set('refresh_token', String(second.body.refresh_token));
    known.set('access_token', String(second.body.access_token));

    const who = await send(find('/api/oauth/userinfo'), known);
    expect(who).toMatchObject({ status: 200, body: { sub: 'm-1001', email: 'student@example.com' } });
    if (profile === 'A') {
      const account = await send(find('viewer'), known);
      expect(account).toMatchObject({ status: 200, body: { data: { viewer: { id: 'm-1001' } } } });
    }
    expect((await send(find('tools/list'), known)).status).toBe(200);

    expect((await send(find('/api/oauth/revoke'), known)).status).toBe(200);
    const after = await send(find('/api/oauth/userinfo'), known);
    expect(after).toMatchObject({ status: 401, body: { error: 'invalid_token' } });
    const errors = new Map(tableUnder(text, 'Errors').map(([status, error]) => [error, status]));
    expect(errors.get('invalid_token')).toBe('401');
    const ended = await send(find('grant_type=refresh_token'), known);
    expect({ error: ended.body.error, status: String(ended.status) }).toEqual({
      error: 'invalid_grant',
      status: errors.get('invalid_grant'),
    });
  });

  it('is also correct with other settings', async () => {
    const other = await startWorld({
      profile,
      overrides: {
        tokens: { access: '5m', refresh: '2h', replayWindow: '0s' },
        limits: { member: { requests: 7, per: '1m' } },
        clients: { documents: { enabled: false }, registration: { enabled: false } },
        pages: {
          support: 'mailto:help@school.example',
          policyUri: 'https://school.example/privacy',
          tosUri: 'https://school.example/terms',
        },
        name: 'A | B `school` <x>',
        resources: [
          { path: '/api/v2', name: 'Second API', scopes: ['courses:read'] },
          { path: '/api/v3', scopes: ['courses:read'] },
        ],
      },
    });
    try {
      const said = await (await fetch(`${other.origin}/auth.md`)).text();
      const lives = tableUnder(said, '5. Exchange and refresh').map(([, human, seconds]) => [human, seconds]);
      expect(lives.slice(0, 2)).toEqual([
        ['5 minutes', '300'],
        ['2 hours', '7200'],
      ]);
      expect(said).toContain('A code is valid for 1 minute (`60` seconds).');
      expect(said).toContain('A code or refresh token that is used twice ends the connection.');
      expect(tableUnder(said, 'Limits')[0]?.[1]).toBe('7 requests per minute');
      expect(said).toContain('Apps cannot register themselves here');
      expect(said).not.toContain('/api/oauth/register');
      expect(said).toContain('gets access to A \\| B \\`school\\` \\<x\\> on behalf of');
      expect(said).toContain('<mailto:help@school.example>');
      expect(said).toContain(`| Separate resource: Second API | \`${other.origin}/api/v2\` |`);
      expect(said).toContain(`| Separate resource | \`${other.origin}/api/v3\` |`);
      expect(said).toContain('Privacy policy: <https://school.example/privacy>');
      expect(said).toContain('Terms of service: <https://school.example/terms>');
      const [server, resource, api] = await Promise.all(
        ['/.well-known/oauth-authorization-server', '/.well-known/oauth-protected-resource', '/openapi.json'].map(
          async (path) => (await fetch(other.origin + path)).json(),
        ),
      );
      expect(server).toMatchObject({
        op_policy_uri: 'https://school.example/privacy',
        op_tos_uri: 'https://school.example/terms',
      });
      expect(resource).toMatchObject({
        resource_policy_uri: 'https://school.example/privacy',
        resource_tos_uri: 'https://school.example/terms',
      });
      expect(api.info.termsOfService).toBe('https://school.example/terms');
    } finally {
      await other.close();
    }
  });
});

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const LIST = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
