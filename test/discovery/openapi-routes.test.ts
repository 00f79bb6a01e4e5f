import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';
import { lint } from './support/lint.ts';

type Json = Record<string, unknown>;
interface Document extends Json {
  readonly paths: Record<string, Record<string, Json>>;
  readonly components: { readonly securitySchemes: Json; readonly responses: Record<string, { headers?: Json }> };
}

const ROUTES = [
  { match: 'GET /api/v1/courses/**', upstream: 'school', scopes: ['courses:read'] },
  // Unreachable: the route before it matches all of its requests.
  { match: 'GET /api/v1/courses/featured', upstream: 'school', scopes: ['courses:read'] },
  { match: '* /api/v2/things/*', upstream: 'school', scopes: [] },
  { match: 'GET /api/v2/members/{member.id}/notes/*/*', upstream: 'school', anonymous: 'refuse' },
  { match: 'PUT /api/v2/mixed/*', upstream: 'school', scopes: ['pages:write'], bodyLimit: '2KiB' },
  { match: 'GET /api/v2/mixed/**', upstream: 'school', scopes: ['pages:read'], anonymous: 'serve' },
  { match: 'PROPFIND /dav/**', upstream: 'school', scopes: [] },
];

describe('routes in the OpenAPI document', () => {
  let world: World;
  let document: Document;
  beforeAll(async () => {
    world = await startWorld({
      profile: 'A',
      environment: { FIRST_TOKEN: 'a-token-of-thirty-two-characters-at-least' },
      overrides: {
        routes: ROUTES,
        resources: [{ path: '/api/v2', name: 'Second', scopes: ['pages:read', 'pages:write'] }],
        clients: { registration: { initialAccessToken: { env: 'FIRST_TOKEN' } } },
        mcp: { signIn: 'on-call' },
      },
    });
    document = (await (await fetch(`${world.origin}/openapi.json`)).json()) as Document;
  });
  afterAll(() => world.close());

  it('pass the linter without findings', async () => {
    expect(await lint(document)).toEqual([]);
  });

  it('match in the order of the configuration, with methods and path parameters', () => {
    const found = Object.entries(document.paths)
      .filter(([path]) => /^\/(api\/v\d|dav)/.test(path))
      .map(([path, item]) => [path, Object.keys(item).join(' ')]);
    expect(Object.fromEntries(found)).toEqual({
      '/api/v1/courses': 'get',
      '/api/v1/courses/{rest}': 'get',
      '/api/v2/things/{part}': 'get put post delete patch',
      '/api/v2/members/{member_id}/notes/{part}/{part2}': 'get',
      '/api/v2/mixed/{part}': 'get put',
      '/api/v2/mixed': 'get',
    });
    const { get, put } = document.paths['/api/v2/mixed/{part}'] ?? {};
    expect([get, put].map((one) => ((one?.parameters ?? []) as Json[]).map(({ name }) => name))).toEqual([
      ['part'],
      ['part'],
    ]);
    expect(put?.description).toMatch(/^Needs an access token with `pages:write`\. The body is limited to 2 KiB\./);
    const any = document.paths['/api/v2/things/{part}']?.get?.description;
    expect(any).toMatch(/^Needs an access token\./);
    expect(get?.description).toMatch(
      /^Anonymous requests are allowed; a token that is sent must be a valid access token with `pages:read`\./,
    );
    expect(get?.security).toEqual([{ oauth2: ['pages:read'] }, { openIdConnect: ['pages:read'] }, {}]);
  });

  it('list Retry-After for the responses that send it', () => {
    const responses = document.paths['/api/v2/things/{part}']?.put?.responses as Record<string, { $ref: string }>;
    const waits = Object.entries(responses).filter(([, { $ref }]) => {
      const { headers = {} } = document.components.responses[$ref?.split('/').at(-1) ?? ''] ?? {};
      return Object.hasOwn(headers, 'Retry-After');
    });
    expect(waits.map(([status]) => status)).toEqual(['429', '503']);
  });

  it('name the initial access token for registration, and the metadata of each resource', async () => {
    expect(document.paths['/api/oauth/register']?.post?.security).toEqual([{ initialAccessToken: [] }]);
    expect(Object.keys(document.components.securitySchemes)).toContain('initialAccessToken');
    expect(document.paths).toHaveProperty(['/.well-known/oauth-protected-resource/api/v2', 'get']);
    const text = await (await fetch(`${world.origin}/auth.md`)).text();
    expect(text).toContain('Authorization: Bearer <initial_access_token>');
    expect(text).toContain(`A token for \`${world.origin}/api/v2\` can only have \`pages:read\`, \`pages:write\`.`);
    expect(text).toContain('All tools are listed for everyone');
    expect(text).not.toContain('a-token-of-thirty-two');
  });

  it('omit registration if it is disabled', async () => {
    const closed = await startWorld({
      profile: 'B',
      overrides: { clients: { registration: { enabled: false }, documents: { enabled: false } } },
    });
    try {
      const other = (await (await fetch(`${closed.origin}/openapi.json`)).json()) as Document;
      expect(Object.keys(other.paths).filter((path) => path.includes('register'))).toEqual([]);
      expect(Object.keys(other.components.securitySchemes)).toEqual(['oauth2', 'openIdConnect']);
      expect(await lint(other)).toEqual([]);
    } finally {
      await closed.close();
    }
  });
});
