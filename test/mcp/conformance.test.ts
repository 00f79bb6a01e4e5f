import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HeaderRelay, startHeaderRelay } from '../support/header-relay.ts';
import { startWorld, type World } from '../support/world.ts';
import { fixtureServer } from './support/conformance/fixture-server.ts';
import {
  expectedFailures,
  failuresOf,
  type Revision,
  requiredScenarios,
  runServerSuite,
  type SuiteRun,
} from './support/conformance/suite.ts';
import { ask, post, tokenOf, toolNames } from './support/mcp.ts';

/** Some scenarios wait only half a second, which a busy machine can miss. A real failure happens on every run. */
const ONE_RUN = { timeout: 240_000, retry: 2 };

/**
 * Compares the failures with the expected ones, both from the suite's result and from its output files: exactly those.
 */
async function run(origin: string, revision: Revision, file: string): Promise<SuiteRun> {
  const done = await runServerSuite(`${origin}/mcp`, revision, file);
  const expected = expectedFailures(file).map(({ entry }) => entry);
  const byCheck = new Set(expected.flatMap((entry) => (entry.includes(':') ? [entry.split(':', 1)[0] ?? ''] : [])));
  expect(failuresOf(done, byCheck)).toEqual([...expected].sort());
  expect(done.output).toMatch(/Baseline check passed/);
  expect(done.code).toBe(0);
  return done;
}

/** The required scenarios without a failure, scored as the suite does: a warning is not a failure. */
function passed({ scenarios }: SuiteRun, revision: Revision): { required: number; passed: number; failed: string[] } {
  const required = requiredScenarios(revision);
  const failed = required.filter((name) => scenarios.get(name)?.every(({ status }) => status !== 'FAILURE') !== true);
  return { required: required.length, passed: required.length - failed.length, failed };
}

describe('the conformance suite', ONE_RUN, () => {
  let world: World;
  let relay: HeaderRelay;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A' });
    const token = await tokenOf(world);
    // The suite cannot send a token.
    relay = await startHeaderRelay(world.origin, { authorization: `Bearer ${token}` });
  });
  afterAll(async () => {
    await relay.close();
    await world.close();
  });

  const REVISIONS = [
    ['2026-07-28', 50],
    ['2025-11-25', 33],
  ] as const;

  it.each(REVISIONS)(
    'passes with our tools without a token except for the known exceptions, %s',
    async (revision, all) => {
      const { scenarios } = await run(world.origin, revision, `${revision}.yaml`);
      expect(scenarios.size).toBe(all);
    },
  );

  it.each(REVISIONS)('passes with our tools as a member except for the known exceptions, %s', async (revision, all) => {
    expect(await toolNames({ ...world, origin: relay.origin })).toContain('get_my_account');
    const { scenarios } = await run(relay.origin, revision, `${revision}.yaml`);
    expect(scenarios.size).toBe(all);
  });
});

describe('the suite’s own tools behind our endpoint', ONE_RUN, () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', mcpServer: fixtureServer });
  });
  afterAll(() => world.close());

  it('pass all that revision 2026-07-28 requires, also as a member', async () => {
    const relay = await startHeaderRelay(world.origin, { authorization: `Bearer ${await tokenOf(world)}` });
    for (const origin of [world.origin, relay.origin]) {
      const done = await run(origin, '2026-07-28', 'fixtures-2026-07-28.yaml');
      expect(passed(done, '2026-07-28')).toEqual({ required: 37, passed: 37, failed: [] });
    }
    await relay.close();
  });

  it('pass what revision 2025-11-25 requires, except for the four that need a session', async () => {
    const done = await run(world.origin, '2025-11-25', 'fixtures-2025-11-25.yaml');
    expect(passed(done, '2025-11-25')).toEqual({
      required: 30,
      passed: 26,
      failed: [
        'tools-call-sampling',
        'tools-call-elicitation',
        'elicitation-sep1034-defaults',
        'elicitation-sep1330-enums',
      ],
    });
  });

  it('are protected by the same checks', async () => {
    const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} });
    expect(await toolNames(world)).toContain('test_simple_text');
    const status = async (body: string, headers: Record<string, string>) =>
      (await post(world, body, { headers })).status;
    expect(await status(list, { origin: 'https://evil.test' })).toBe(403);
    expect(await status(list, { 'content-type': 'text/plain' })).toBe(415);
    expect(await status(list, { accept: 'text/html' })).toBe(406);
    expect((await post(world, '{')).body.error.code).toBe(-32_700);
    expect((await post(world, `{"a":"${'a'.repeat(2_000_000)}"}`)).status).toBe(413);
    const refused = await post(world, list, { token: 'bad' });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource/mcp"');
    expect((await ask(world, 'tools/list', {}, { path: '/mcp/member' })).status).toBe(401);
  });

  it('report progress to a client that accepts streams, and only the result to others', async () => {
    const params = { name: 'test_tool_with_progress', arguments: {}, _meta: { progressToken: 'p' } };
    const streamed = await ask(world, 'tools/call', params);
    expect(streamed.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(streamed.text.match(/"method":"notifications\/progress"/g)).toHaveLength(3);
    for (const accept of ['application/json', '*/*']) {
      const whole = await ask(world, 'tools/call', params, { headers: { accept } });
      expect(whole.headers.get('content-type')).toBe('application/json');
      expect(whole.body.result.content).toEqual([{ type: 'text', text: 'Done.' }]);
    }
  });
});
