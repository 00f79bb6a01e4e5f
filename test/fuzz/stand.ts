import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { expect } from 'vitest';
import { type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { rawSocket } from '../support/raw-socket.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { type StrictRequest, strictAnswer, valuesOf } from '../support/strict-http.ts';
import { pieces } from './bytes.ts';
import type { Sent } from './messages.ts';

/** A gate as a process of its own between a client and an upstream that send what they are told, and what must hold. */
export interface Stand {
  /** Sends what a client sends, answers what an upstream answers, and checks everything. Throws what does not hold. */
  run(client: Sent, upstream: Sent | undefined): Promise<void>;
  /** That nothing was left behind. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const SANE = {
  bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  delivery: { cuts: [], ending: 'wait' },
} as const;
/** What a process may grow by, whatever it was sent. */
const GROWTH = 200 * 1024 * 1024;
/** A target as one server after the other understands it: no dot segment, no second slash, nothing to decode twice. */
const CLEAR_TARGET = /^(?!\*)\/(?!.*\/\/)(?!.*\/\.{1,2}(\/|\?|$))[A-Za-z0-9\-._~!$&'()*+,=:@/%]*(\?[\x21-\x7E]*)?$/;

/** Who the upstream may be told of, by where a request goes and whether a good token was anywhere in what was sent. */
const IDENTITY = {
  token: { member: /^m-1$/, reading: /^m-1$/, public: /^(m-1)?$/, site: /^$/ },
  anonymous: { member: /^never$/, reading: /^never$/, public: /^$/, site: /^$/ },
} as const;

export async function startStand(): Promise<Stand> {
  const upstream = await startScriptedUpstream();
  const gate = await startProxyWorld({ upstream: upstream.url, timeout: '300ms', process: {} });
  const pid = pidOf(gate);
  let exited: unknown;
  void gate.process?.exited.then((code) => {
    exited = code;
  });
  let round = 0;
  await sane();
  const before = { memory: memory(pid), descriptors: descriptors(pid) };

  async function run(client: Sent, answer: Sent | undefined): Promise<void> {
    const ours = (text: string) => text.replaceAll('HOST', gate.host).replaceAll('TOKEN', gate.token);
    const bytes = ours(client.bytes);
    upstream.script((_request, socket) => void deliver(answer ?? SANE, ours, socket));
    const { received, how } = await talk(gate.port, { ...client, bytes });
    if (answer !== undefined && isPlain(client.bytes)) wholeOnlyIfWhole(client, answer, received, how);
    expect(exited, 'the process is there').toBeUndefined();
    await sane();
    await judged(upstream.take(), client.bytes.includes('TOKEN'));
    expect(gate.log(), 'no failure of our own').not.toMatch(
      /"(failure|reason|code)":"internal"|nobody caught|Unhandled/,
    );
    expect(memory(pid) - before.memory, 'memory').toBeLessThan(GROWTH);
  }

  /** The next request on a connection of its own, over whatever connections to the upstream were left. */
  async function sane(): Promise<void> {
    for (const path of ['/public/sane', '/sane']) {
      for (let tries = 0; ; tries += 1) {
        round += 1;
        const body = `sane-${round}`;
        upstream.script((request, socket) => {
          const text = request.target === `${path}?${round}` ? body : 'not asked for';
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
        });
        const answer = await gate.raw(
          `GET ${path}?${round} HTTP/1.1\r\nHost: ${gate.host}\r\nConnection: close\r\n\r\n`,
        );
        // On a busy machine 300 ms pass before this process has had its turn.
        if (answer.startsWith('HTTP/1.1 504') && tries < 3) continue;
        expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
        expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(body);
        break;
      }
    }
  }

  /** Every request that reached the upstream is one that the gate took for one, and says of the member what it may. */
  async function judged(requests: readonly StrictRequest[], withToken: boolean): Promise<void> {
    for (const { target, headers } of requests) {
      const [requestId = '', ...others] = valuesOf(headers, 'x-request-id');
      expect(others).toEqual([]);
      expect(target).toMatch(CLEAR_TARGET);
      const members = headers.filter(([name]) => name.toLowerCase().replaceAll(/[^a-z]/g, '-') === 'x-member-id');
      const [, lane = 'site'] = /^\/(member|reading|public)(\/|$)/.exec(target.split('?', 1)[0] ?? '') ?? [];
      const told = members.map(([, value]) => value).join();
      expect(told, `who is behind ${target}`).toMatch(IDENTITY[withToken ? 'token' : 'anonymous'][lane as 'site']);
      expect(valuesOf(headers, 'authorization').join()).not.toMatch(/bearer|dpop/i);
      expect(valuesOf(headers, 'host')).toEqual([gate.host]);
      if (valuesOf(headers, 'upgrade').length > 0) continue;
      const message = `${target} as ${requestId} was taken for a request by the gate`;
      await expect
        .poll(() => gate.log().includes(`"request_id":"${requestId}"`), { timeout: 5_000, message })
        .toBe(true);
    }
  }

  return {
    run,
    async settled() {
      upstream.hangUp();
      await expect
        .poll(() => descriptors(pid) - before.descriptors, { timeout: 10_000, message: 'descriptors' })
        .toBeLessThan(5);
    },
    async close() {
      await gate.close();
      await upstream.close();
    },
  };
}

/** One whole request, after which the connection is read to its end: what comes back is the answer to it. */
function isPlain(bytes: string): boolean {
  return /^[A-Z]+ \S+ HTTP\/1\.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\nConnection: close\r\n\r\n$/.test(
    bytes,
  );
}

/** A body that the client sees as whole is the one that the upstream sent as whole. */
function wholeOnlyIfWhole(client: Sent, answer: Sent, received: string, how: string): void {
  const method = client.bytes.slice(0, client.bytes.indexOf(' '));
  const seen = strictAnswer(received, method, how === 'end' ? 'end' : 'reset');
  if (seen.kind !== 'whole' || valuesOf(seen.message.headers, 'content-type').join().includes('problem+json')) return;
  const states = { wait: 'open', end: 'end', reset: 'reset' } as const;
  const sent = strictAnswer(answer.bytes, method, states[answer.delivery.ending]);
  expect(sent.kind, `${JSON.stringify(answer.bytes)} became ${JSON.stringify(received)}`).not.toBe('incomplete');
  if (sent.kind === 'whole') expect(seen.message.body).toBe(sent.message.body);
}

async function deliver({ bytes, delivery }: Sent, ours: (text: string) => string, socket: Socket): Promise<void> {
  for (const piece of pieces(ours(bytes), delivery)) {
    if (socket.destroyed) return;
    socket.write(piece, 'latin1');
    await turn();
  }
  if (delivery.ending === 'end') socket.end();
  else if (delivery.ending === 'reset') setTimeout(() => socket.resetAndDestroy(), 3);
}

/** Long enough for the gate to give up on an upstream, where a client waits for that. */
const PATIENCE = { patient: 1_000, hasty: 30 } as const;

async function talk(port: number, { bytes, delivery }: Sent): Promise<{ received: string; how: string }> {
  const connection = await rawSocket(port);
  for (const piece of pieces(bytes, delivery)) {
    connection.write(piece);
    await turn();
  }
  if (delivery.ending === 'end') connection.socket.end();
  else if (delivery.ending === 'reset') setTimeout(() => connection.socket.resetAndDestroy(), 2);
  const patience = /Connection: close\r\n\r\n$/.test(bytes) ? PATIENCE.patient : PATIENCE.hasty;
  const timer = setTimeout(() => connection.socket.destroy(new Error('too long')), patience);
  const how = await connection.closed;
  clearTimeout(timer);
  return { received: connection.received(), how };
}

function pidOf(gate: ProxyWorld): number {
  const { pid } = gate.process ?? {};
  if (pid === undefined) throw new Error('The gate has no process.');
  return pid;
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const memory = (pid: number) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096;
const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
