import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Log } from '../../src/operations/log.ts';
import { startWorld, type World } from '../support/world.ts';
import { ask, askModern, type Reply } from './support/mcp.ts';

/** Text that must only appear in the operator's log. */
const INNER = 'no space left in /srv/inner';

const ERAS: readonly [string, (world: World, method: string, params: Record<string, unknown>) => Promise<Reply>][] = [
  ['2026-07-28', askModern],
  ['the revisions before', ask],
];

/** A log that is recorded, and that throws on the chosen lines. */
function keptLog(fails: (line: string) => boolean): {
  log: Log;
  errors: () => { msg: string; err: { message: string } }[];
} {
  const lines: string[] = [];
  const log = pino(
    {},
    {
      write(line: string) {
        if (fails(line)) throw new Error(INNER);
        lines.push(line);
      },
    },
  );
  return { log, errors: () => lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 50) };
}

it('a client that leaves during a call is no error', async () => {
  const { log, errors } = keptLog(() => false);
  const waiting = Promise.withResolvers<void>();
  const school = createServer(() => waiting.resolve()).listen(0, '127.0.0.1');
  await once(school, 'listening');
  const { port } = school.address() as AddressInfo;
  const overrides = { upstreams: { school: { url: `http://127.0.0.1:${port}` } } };
  const world = await startWorld({ profile: 'A', log, overrides });
  const left = new AbortController();
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search_courses', arguments: {} } };
  const answer = fetch(`${world.origin}/mcp`, {
    method: 'POST',
    signal: left.signal,
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify(call),
  }).catch((error: Error) => error.name);
  await waiting.promise;
  left.abort();
  expect(await answer).toBe('AbortError');
  // When these are answered, the gate has noticed that the client disconnected.
  for (let turn = 0; turn < 5; turn += 1) await ask(world, 'tools/list');
  school.closeAllConnections();
  school.close();
  await world.close();
  expect(errors()).toEqual([]);
});

describe.each(ERAS)('an internal failure is logged, and the client gets a generic message, %s', (_, send) => {
  let world: World;
  let kept: ReturnType<typeof keptLog>;
  afterEach(() => world.close());

  describe('in a handler', () => {
    beforeEach(async () => {
      kept = keptLog((line) => line.includes('tool_called'));
      world = await startWorld({ profile: 'A', log: kept.log });
    });

    it.each<[string, Record<string, unknown>]>([
      ['tools/call', { name: 'search_courses', arguments: {} }],
      ['resources/read', { uri: 'course://tides-and-currents' }],
    ])('of %s, when the audit log cannot be written', async (method, params) => {
      const { body, text } = await send(world, method, params);
      expect(body.error).toEqual({ code: -32_603, message: 'Something went wrong on our side.' });
      expect(text).not.toContain('/srv/inner');
      expect(kept.errors()).toMatchObject([{ msg: 'a tool failed', err: { message: INNER } }]);
    });
  });

  it('when there is no server to respond with', async () => {
    kept = keptLog(() => false);
    const mcpServer = () => {
      throw new Error(INNER);
    };
    world = await startWorld({ profile: 'A', log: kept.log, mcpServer });
    const { status, body, text } = await send(world, 'tools/list', {});
    expect([status, body.error.code]).toEqual([500, -32_603]);
    expect(text).not.toContain('/srv/inner');
    expect(kept.errors()).toMatchObject([{ msg: 'a tool failed', err: { message: INNER } }]);
  });
});
