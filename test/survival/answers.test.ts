import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { startRawUpstream } from '../support/recording-upstream.ts';
import { strictAnswer, valuesOf } from '../support/strict-http.ts';
import { type Ending, UNDICI_TAKES, UPSTREAM_ANSWERS } from '../support/upstream-answers.ts';

/** A gate in a process of its own, in front of an upstream that responds as `answer` does. */
interface Stand {
  answer: (socket: Socket) => void;
  readonly gate: ProxyWorld;
  readonly exited: () => unknown;
  close(): Promise<void>;
}

async function openStand(client: string): Promise<Stand> {
  let exited: unknown;
  let stand: Stand | undefined;
  const upstream = await startRawUpstream((socket) => stand?.answer(socket));
  const gate = await startProxyWorld({
    upstream: upstream.url,
    timeout: '500ms',
    process: { COURSEGATE_HTTP_CLIENT: client },
  });
  stand = {
    answer: () => undefined,
    gate,
    exited: () => exited,
    async close() {
      await gate.close();
      await upstream.close();
    },
  };
  void gate.process?.exited.then((code) => {
    exited = code;
  });
  return stand;
}

/**
 * The result for the client: `200 hello`, complete by its own framing; `502 upstream_invalid`, from the gate; or
 * `cut 200 hello`, the part that arrived before the connection was closed.
 */
async function outcome(stand: Stand, lane: string, bytes: string, ending: Ending): Promise<string> {
  const { gate } = stand;
  stand.answer = (socket) => {
    const [first = '', ...others] = bytes.split('PAUSE');
    socket.write(first, 'latin1');
    const rest = () => {
      for (const other of others) socket.write(other, 'latin1');
      if (ending === 'end') socket.end();
      else if (ending === 'reset') setTimeout(() => socket.resetAndDestroy(), 20);
    };
    // After the first bytes are sent, so that the gate has begun its response.
    setTimeout(rest, 50);
  };
  const connection = await gate.socket();
  connection.write(`GET ${lane}/x HTTP/1.1\r\nHost: ${gate.host}\r\nConnection: close\r\n\r\n`);
  await connection.closed;
  const received = connection.received();
  const reading = strictAnswer(received, 'GET', 'end');
  if (reading.kind !== 'whole') {
    const [head = '', body = ''] = received.split('\r\n\r\n');
    return `cut ${head.slice(9, 12)} ${body.replaceAll('\r\n', '|')}`.trimEnd();
  }
  const { status, headers, body } = reading.message;
  expect(reading.rest, 'behind the answer').toBe('');
  for (const name of ['content-length', 'transfer-encoding', 'date', 'x-request-id', 'connection'])
    expect(valuesOf(headers, name).length, name).toBeLessThan(2);
  if (!valuesOf(headers, 'content-type').join().includes('problem+json')) return `${status} ${body}`.trimEnd();
  const { code, status: told } = JSON.parse(body) as { code: string; status: number };
  expect(told).toBe(status);
  expect(body).not.toMatch(/127\.0\.0\.1|\/x/);
  return `${status} ${code}`;
}

/** Checks that the process is the same, and that the next request on each lane gets its own response. */
async function alive(stand: Stand): Promise<void> {
  const { gate } = stand;
  stand.answer = (socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnext');
  for (const lane of ['/public', '/pages']) {
    const next = await fetch(`${gate.origin}${lane}/next`);
    expect([next.status, await next.text()]).toEqual([200, 'next']);
  }
  expect(stand.exited()).toBeUndefined();
  expect(gate.log()).not.toMatch(/uncaught failure|Unhandled|"internal"/);
}

/**
 * The responses of one upstream follow one another, while those of the other arrive. The gate waits for its upstream for half
 * a second only: a machine that stalls for longer spoils an attempt.
 */
const IN_TURN = { concurrent: false, retry: 2 };

describe.concurrent.each([
  ['our own client', ''],
  ['undici', 'undici'],
])('with %s', (_client, client) => {
  let stand: Stand;
  beforeAll(async () => {
    stand = await openStand(client);
  });
  afterAll(() => stand.close());

  describe.each([
    ['protected', '/public'],
    ['site', '/pages'],
  ])('an upstream response on the %s lane', IN_TURN, (lane, path) => {
    it.each(UPSTREAM_ANSWERS.map((row) => [row[0], row[1], row] as const))('%s: %s', async (_check, what, row) => {
      const [, , bytes, ending, both, site] = row;
      const usual = lane === 'site' ? (site ?? both) : both;
      const seen = client === 'undici' ? (UNDICI_TAKES[what] ?? usual) : usual;
      expect(await outcome(stand, path, bytes, ending)).toBe(seen);
      await alive(stand);
    });
  });
});
