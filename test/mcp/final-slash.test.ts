import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';
import { ask, askModern, tokenOf, toolNames } from './support/mcp.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

describe.each(['A', 'B'])('an MCP URL with a final slash, Profile %s', (profile) => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile });
  });
  afterAll(() => world.close());

  it('works like the one without, in both eras', async () => {
    expect(await toolNames(world, { path: '/mcp/' })).toEqual(['search_courses', 'get_course']);
    expect((await askModern(world, 'server/discover', {}, { path: '/mcp/' })).status).toBe(200);
    const token = await tokenOf(world, profile === 'A' ? 'account:read' : 'openid');
    const names = await toolNames(world, { token });
    for (const path of ['/mcp/', '/mcp/member/']) expect(await toolNames(world, { path, token })).toEqual(names);
    if (profile === 'A') expect(names).toContain('get_my_account');
  });

  it('names itself in its challenge and in the metadata document that the challenge links to', async () => {
    for (const [path, headers] of [
      ['/mcp/', { authorization: 'Bearer bad' }],
      ['/mcp/member/', { authorization: 'Bearer bad' }],
      ['/mcp/member/', {}],
    ] as const) {
      const { status, headers: answered } = await ask(world, 'tools/list', {}, { path, headers });
      const [, metadata] = /resource_metadata="([^"]+)"/.exec(answered.get('www-authenticate') ?? '') ?? [];
      expect([path, status, metadata]).toEqual([path, 401, `${world.origin}${WELL_KNOWN}${path}`]);
      const named = await fetch(String(metadata));
      expect(await named.json()).toMatchObject({
        // RFC 9728 section 3.3: the URL that the client used, exactly.
        resource: `${world.origin}${path}`,
        authorization_servers: [world.origin],
      });
    }
  });

  it('has the same metadata document as the one without, except for its name', async () => {
    for (const path of ['/mcp', '/mcp/member']) {
      const read = async (url: string) => (await fetch(world.origin + url)).json() as Promise<object>;
      const slashed = await read(`${WELL_KNOWN}${path}/`);
      expect(slashed).toEqual({ ...(await read(WELL_KNOWN + path)), resource: `${world.origin}${path}/` });
    }
  });

  it('refuses other methods, and answers preflights', async () => {
    const got = await fetch(`${world.origin}/mcp/`);
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST']);
    const asked = await fetch(`${world.origin}/mcp/`, {
      method: 'OPTIONS',
      headers: { origin: 'https://claude.ai', 'access-control-request-method': 'POST' },
    });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  });

  it('is served only in this spelling, and only for MCP', async () => {
    for (const path of ['/MCP/', '/mcp/member/x/', '/mcp%2f', '/account/graphql/', '/openapi.json/', '/auth.md/']) {
      const { status } = await ask(world, 'tools/list', {}, { path });
      expect([path, status >= 400]).toEqual([path, true]);
    }
  });
});
