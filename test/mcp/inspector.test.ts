import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorld, type World } from '../support/world.ts';
import { createInspector, type Inspector } from './support/inspector.ts';

/** Each run is a separate program that takes long to load. */
const PROGRAM = { timeout: 240_000 };

describe('the MCP Inspector on the command line', PROGRAM, () => {
  let world: World;
  let inspector: Inspector;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    inspector = await createInspector();
  });
  afterAll(async () => {
    inspector.close();
    await world.close();
  });

  const LIST = ['--method', 'tools/list'];
  const call = (name: string, ...args: string[]) => ['--method', 'tools/call', '--tool-name', name, ...args];
  const names = (result: { tools: { name: string }[] }) => result.tools.map(({ name }) => name);

  it.each(['legacy', 'modern'])('lists and calls tools without a sign-in, in the %s era', async (era) => {
    const url = `${world.origin}/mcp`;
    const listed = await inspector.run(url, '--protocol-era', era, ...LIST);
    expect([listed.code, listed.asked]).toEqual([0, undefined]);
    expect(names(listed.result)).toEqual(['search_courses', 'get_course']);
    expect(listed.stderr).not.toMatch(/[1-9]\d* errors?/);
    const called = await inspector.run(
      url,
      '--protocol-era',
      era,
      ...call('search_courses', '--tool-arg', 'query=tides'),
    );
    expect(called.code).toBe(0);
    expect(called.result.structuredContent).toMatchObject({ courses: [{ slug: 'tides-and-currents' }] });
  });

  it('reports an unknown tool without asking for a sign-in', async () => {
    const { code, asked } = await inspector.run(`${world.origin}/mcp`, ...call('get_my_account'));
    expect([code, asked]).toEqual([5, undefined]);
  });

  it('recognizes an invalid token as a missing sign-in', async () => {
    const bad = ['--header', 'Authorization: Bearer bad', '--stored-auth-only'];
    const { code, stderr } = await inspector.run(`${world.origin}/mcp`, ...bad, ...LIST);
    expect([code, stderr]).toEqual([3, expect.stringContaining('auth_required')]);
  });

  it.each(['legacy', 'modern'])('signs a member in and calls a tool for them, in the %s era', async (era) => {
    const url = `${world.origin}/mcp/member`;
    const listed = await inspector.run(url, '--protocol-era', era, '--relogin', ...LIST);
    expect(listed.asked?.searchParams.get('resource')).toBe(url);
    expect(listed.asked?.searchParams.get('scope')?.split(' ')).toContain('account:read');
    expect(listed.code).toBe(0);
    expect(names(listed.result)).toContain('get_my_account');
    const called = await inspector.run(url, '--protocol-era', era, '--stored-auth-only', ...call('get_my_account'));
    expect([called.code, called.asked]).toEqual([0, undefined]);
    expect(called.result.structuredContent).toEqual({ id: 'm-1001', email: 'student@example.com' });
  });

  it.each(['legacy', 'modern'])(
    'signs a member in when a tool is called, with signIn: on-call, in the %s era',
    async (era) => {
      const onCall = await startWorld({ profile: 'A', overrides: { mcp: { signIn: 'on-call' } } });
      const url = `${onCall.origin}/mcp`;
      const called = await inspector.run(url, '--protocol-era', era, ...call('get_my_account'));
      expect(called.asked?.searchParams.get('resource')).toBe(url);
      expect(called.code).toBe(0);
      expect(called.result.structuredContent).toEqual({ id: 'm-1001', email: 'student@example.com' });
      await onCall.close();
    },
  );
});
