import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBrowser } from '../../support/browser.ts';
import { approve } from '../../support/member.ts';
import { startProxyWorld } from '../../support/proxy-world.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../../support/recording-upstream.ts';
import { startWorld } from '../../support/world.ts';
import { runConnect } from './support/run-connect.ts';

/** What `coursegate connect` makes of gates that have little in common with the demo. */
let backend: RecordingUpstream;
const folder = mkdtempSync(join(tmpdir(), 'coursegate-connect-'));

beforeAll(async () => {
  backend = await startRecordingUpstream((request, response) => {
    const known: Readonly<Record<string, [number, string, string]>> = {
      '/wp-json/coursegate/v1/me': [200, 'application/json', '{"id":7,"email":"sam@example.com","roles":[]}'],
      '/wp-json/llms/v1/memberships': [503, 'text/html', '<h1>Error</h1>'],
      '/feed': [200, 'text/event-stream', ': it never ends\n\n'],
    };
    const [status, type, body] = known[request.url ?? ''] ?? [404, 'text/plain', 'nothing'];
    response.writeHead(status, { 'content-type': type });
    if (type === 'text/event-stream') response.write(body);
    else response.end(body);
  });
});
afterAll(async () => {
  await backend.close();
  rmSync(folder, { recursive: true, force: true });
});

const protectedBy = (scopes: readonly string[]) => ({ upstream: 'back', scopes, anonymous: 'refuse' });

/** Connects to a gate in front of `backend`, where the member of the browser's session approves everything. */
async function connectTo(config: Readonly<Record<string, unknown>>) {
  const world = await startProxyWorld({ upstream: backend.url, config });
  try {
    return await connectAt(world.origin);
  } finally {
    await world.close();
  }
}

async function connectAt(origin: string) {
  let scope: string | null = null;
  const found = await runConnect(origin, {
    open: async (address) => {
      const { searchParams } = new URL(address);
      scope = searchParams.get('scope');
      const browser = createBrowser();
      browser.cookies.set('school', { value: 'm-7', path: '/' });
      await fetch(await approve(address, searchParams.get('redirect_uri') ?? '', { browser }));
    },
  });
  return { ...found, scope };
}

describe('a working token is success', () => {
  it('at the demo, with everything that it offers', async () => {
    const world = await startWorld({ profile: 'A' });
    const { progress, data, error, scope } = await connectAt(world.origin);
    await world.close();
    expect([error, scope]).toEqual([undefined, 'openid account:read courses:read']);
    expect(data).toMatch(/^Member m-1001$/m);
    expect(data).toMatch(/^student@example\.com \(id m-1001\): \d+ courses$/m);
    expect(data).toMatch(/^The Account API also has: orders, eventRegistrations$/m);
    expect(data).toMatch(/^Tools for agents: .*\bget_my_account\b/m);
    expect(data.match(/^COURSE /gm)).toHaveLength(1);
    expect(data).toMatch(/^Courses of the site: \d+ of \d+ courses$/m);
    expect(data).toMatch(/^GET \/api\/v1\/whoami: data$/m);
    expect(data).toMatch(/^GET \/api\/v1\/ticks: text\/event-stream; charset=utf-8$/m);
    expect(progress).toMatch(/✓ Everything works\.$/);
    expect(progress).not.toContain('–');
  });

  it('at a site like WordPress, without courses', async () => {
    const { progress, data, error, scope } = await connectTo({
      profile: 'B',
      routes: [
        { match: 'GET /wp-json/coursegate/v1/me', ...protectedBy([]) },
        { match: 'GET /wp-json/llms/v1/memberships', ...protectedBy(['membership_plans:read']) },
        { match: 'POST /wp-json/llms/v1/orders', ...protectedBy(['orders:read']) },
        { match: 'GET /feed', ...protectedBy([]) },
      ],
    });
    expect([error, scope]).toEqual([undefined, 'openid account:read courses:read membership_plans:read']);
    expect(data.split('\n')).toEqual([
      'Member m-7',
      'GET /wp-json/coursegate/v1/me: id, email, roles',
      'GET /feed: text/event-stream',
    ]);
    expect(progress).toMatch(/^– \S+\/memberships answered 503 without usable data\. Check the gate's log, /m);
    expect(progress).toContain('✓ Checking that the token was revoked');
    expect(progress).toMatch(/✓ The connection works\. Lines that begin with – say what could not be read\.$/);
  });

  it('at a site whose Account API has the member’s id and nothing else, with and without introspection', async () => {
    writeFileSync(join(folder, 'account.graphql'), 'type Query { viewer: Viewer! } type Viewer { id: ID! }\n');
    writeFileSync(
      join(folder, 'map.graphql'),
      'extend schema @link(url: "https://specs.apollo.dev/connect/v0.3", import: ["@source", "@connect"])\n',
    );
    const files = { schema: join(folder, 'account.graphql'), mappings: join(folder, 'map.graphql') };
    for (const introspection of [true, false]) {
      const { progress, data, error } = await connectTo({
        profile: 'A',
        routes: [],
        account: { ...files, introspection },
      });
      expect(error).toBeUndefined();
      expect(data).toContain('Member m-7\nThe Account API has the member m-7, and no list of courses.');
      expect(progress).toMatch(/✓ Everything works\.$/);
    }
  });

  it('at a site that has tools and nothing else', async () => {
    const about = { title: 'T', description: 'D', get: { upstream: 'back', path: '/x' }, result: { found: '' } };
    const { progress, data, error } = await connectTo({
      profile: 'B',
      routes: [],
      mcp: {
        tools: [
          { name: 'public_one', ...about },
          { name: 'my_courses', ...about, scopes: ['courses:read'] },
          { name: 'my_orders', ...about, scopes: ['orders:read'] },
        ],
      },
    });
    expect(error).toBeUndefined();
    expect(data).toBe('Member m-7\nTools for agents: public_one, my_courses, my_orders');
    expect(progress).toMatch(/✓ Everything works\.$/);
  });

  it('at a site that has only routes which need more than a token', async () => {
    const { progress, data, error, scope } = await connectTo({
      profile: 'B',
      routes: [{ match: 'GET /api/things/*', ...protectedBy(['students:read']) }],
    });
    expect([error, data, scope]).toEqual([undefined, 'Member m-7', 'openid account:read courses:read']);
    expect(progress).toMatch(/✓ Everything works\.$/);
  });
});
