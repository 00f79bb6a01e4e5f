import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { missing } from '../support/missing.ts';
import { freePort, startWorld, type World } from '../support/world.ts';
import { lacking, readLanguages } from './harness/catalogue.ts';
import { installsOver } from './harness/install.ts';
import { runProgram } from './harness/program.ts';
import { environmentOf } from './harness/run-clients.ts';

await installsOver();
const CLIENTS = readLanguages().flatMap((language) => language.clients.map((client) => ({ language, client })));

const CALL = {
  name: 'save_playback_position',
  arguments: { courseSlug: 'turning-bowls', lectureId: '4995', positionSeconds: 77 },
};

/** What each asks the member for: first, and when a tool needs more. */
const FIRST = ['account:read', 'account:write', 'courses:read'];
const KEPT = ['account:read', 'courses:read'];

/**
 * A token that lacks the scope of a tool for changes, and has one that this tool does not need. What the token had must
 * survive the step-up, although a challenge in 2026-07-28 does not name it.
 */
describe('a step-up with real SDKs', () => {
  let world: World;
  let environment: Record<string, string>;
  beforeAll(async () => {
    world = await startWorld({
      profile: 'A',
      adjust: (config) => ({ ...config, mcp: config.mcp && { ...config.mcp, tools: withReader(config.mcp.tools) } }),
    });
    environment = { ...(await environmentOf('A', world.origin)), STEP_UP: JSON.stringify(CALL) };
  });
  afterAll(() => world?.close());

  const stepUp = async (name: string, ...more: string[]) => {
    const one = CLIENTS.find(({ client }) => client.name === name);
    if (one === undefined) throw new Error(`there is no client ${name}`);
    const client = { ...one.client, command: [...one.client.command, ...more] };
    const callback = `http://127.0.0.1:${await freePort()}/callback`;
    const outcome = await runProgram({
      ...{ ...one, client, profile: 'A' as const, environment, callback, asShown: true, settled: () => {} },
    });
    return { ...outcome, asked: outcome.scopes.map((scope) => scope.split(' ').toSorted()) };
  };

  it.for([
    ['MCP client 2, `auto`'],
    ['MCP client 2, legacy'],
    ['MCP SDK 1.32', 'no-refresh'],
    ['MCP SDK 1.25', 'no-refresh'],
    ['mcp 2'],
    ['mcp 1'],
    ['go-sdk'],
  ])('%s keeps what the token had, and the call works', async ([name = '', ...more], context) => {
    const one = CLIENTS.find(({ client }) => client.name === name);
    const reason = one === undefined ? undefined : lacking(one.language, one.client);
    if (reason !== undefined) missing(`${name}: ${reason}`, true);
    context.skip(reason !== undefined, reason ?? '');
    const { failure, steps, asked, output } = await stepUp(name, ...more);
    expect([failure, steps.at(-1), output]).toEqual([undefined, 'step-up', output]);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toEqual(expect.arrayContaining(FIRST));
    expect(asked[1]).toEqual(expect.arrayContaining([...KEPT, 'account:write']));
  });

  // docs/clients.md says so, and what to do about it.
  it.for(['MCP SDK 1.32', 'MCP SDK 1.25'])('%s with a refresh token never asks the member', async (name) => {
    const { failure, asked } = await stepUp(name);
    expect([failure, asked.length]).toEqual([expect.stringContaining('403 after trying upscoping'), 1]);
  });
});

function withReader<T extends { readonly name: string; readonly scopes: string[] }>(tools: readonly T[]): T[] {
  const [one] = tools.filter(({ name }) => name === 'get_course');
  if (one === undefined) throw new Error('there is no tool get_course');
  return [...tools, { ...one, name: 'get_course_as_member', scopes: ['courses:read'] }];
}
