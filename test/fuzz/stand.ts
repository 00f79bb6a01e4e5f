import { readdirSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { FREELY, type ProxyWorld, startProxyWorld } from '../support/proxy-world.ts';
import { rawSocket } from '../support/raw-socket.ts';
import { startScriptedUpstream } from '../support/scripted-upstream.ts';
import { type StrictRequest, strictAnswer, valuesOf } from '../support/strict-http.ts';
import { pieces } from './bytes.ts';
import type { Sent } from './messages.ts';

/** What is sent at the same time: all of it with a good token in the place of TOKEN, or all of it with another. */
interface Batch {
  readonly token: boolean;
  readonly cases: readonly Case[];
}

/** What a client sends, and what the upstream answers to it. */
export interface Case {
  readonly client: Sent;
  readonly answer: Sent | undefined;
}

/** A gate as a process of its own between clients and an upstream that send what they are told, and what must hold. */
export interface Stand {
  /** Sends what clients send, answers what an upstream answers, and checks everything. Throws what does not hold. */
  run(batch: Batch): Promise<void>;
  /** What the gate has in flight, how many lines of its log were lost, and the end of what it printed about failures. */
  lastWords(): Promise<string>;
  /** That nothing was left behind. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

const SANE = {
  bytes: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  delivery: { cuts: [], ending: 'wait' },
} as const;
/**
 * As many at once as by default: thousands of requests on one connection are refused, not remembered. In the long form
 * more than an upstream takes by default, so that some are refused with 503.
 */
const openAtOnce = (isLong: boolean) => (isLong ? 20_000 : 1_000);
/** What a process may grow by, whatever it was sent. */
const GROWTH = 200 * 1024 * 1024;
/** A target as one server after the other understands it: no dot segment, no second slash, nothing to decode twice. */
const CLEAR_TARGET =
  /^(?!\*)\/(?![^?]*\/\/)(?![^?]*\/\.{1,2}(\/|\?|$))[A-Za-z0-9\-._~!$&'()*+,=:@/%]*(\?[\x21-\x7E]*)?$/;

/** Who the upstream may be told of, by where a request goes and whether a good token was anywhere in what was sent. */
const IDENTITY = {
  token: { member: /^m-1$/, reading: /^m-1$/, public: /^(m-1)?$/, site: /^$/ },
  anonymous: { member: /^never$/, reading: /^never$/, public: /^$/, site: /^$/ },
} as const;

/** @param isLong whether hundreds of cases at once keep the machine busy */
export async function startStand(isLong: boolean): Promise<Stand> {
  const upstream = await startScriptedUpstream();
  const gate = await startProxyWorld({
    upstream: upstream.url,
    timeout: '300ms',
    process: {},
    config: { limits: { ...FREELY, open: { address: openAtOnce(isLong), member: openAtOnce(isLong) } } },
  });
  const pid = pidOf(gate);
  let exited: unknown;
  void gate.process?.exited.then((code) => {
    exited = code;
  });
  let round = 0;
  await sane();
  const before = { memory: memory(pid), descriptors: descriptors(pid) };

  async function run({ token, cases }: Batch): Promise<void> {
    const begun = said(gate);
    const fill = (text: string) =>
      text.replaceAll('HOST', gate.host).replaceAll('TOKEN', token ? gate.token : 'not-a-token');
    let turn = 0;
    // A plain request says in its query which answer is its own. Whatever else arrives takes them in turn.
    upstream.script(({ target }, socket) => {
      const mine = PLAIN_QUERY.exec(target)?.[1];
      const { answer } = cases[mine === undefined ? turn++ % cases.length : Number(mine)] ?? {};
      void deliver(answer ?? SANE, fill, socket);
    });
    await Promise.all(
      cases.map(async ({ client, answer }, index) => {
        const bytes = fill(client.bytes).replace('INDEX', String(index));
        const patience = isPlain(client.bytes) ? PATIENCE.patient : PATIENCE.hasty;
        const { received, how } = await talk(gate.port, { ...client, bytes }, patience);
        if (answer !== undefined && isPlain(client.bytes)) wholeOnlyIfWhole(client, answer, { received, how, isLong });
      }),
    );
    expect(exited, 'the process is there').toBeUndefined();
    await sane();
    await judged(upstream.take(), token, begun);
    expect(said(gate, begun).text, 'no failure of our own').not.toMatch(
      /"(failure|reason|code)":"internal"|uncaught failure|Unhandled/,
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
        // On a busy machine 300 ms pass before this process has had its turn; and what the cases before have left open counts
        // against this address until it is over; in the long form against the upstream, too.
        if ((isLong ? /^HTTP\/1\.1 (50[34]|429)/ : /^HTTP\/1\.1 (504|429)/).test(answer) && tries < 50) {
          await sleep(100);
          continue;
        }
        expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
        expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(body);
        break;
      }
    }
  }

  /** Every request that reached the upstream is one that the gate took for one, and says of the member what it may. */
  async function judged(requests: readonly StrictRequest[], withToken: boolean, begun: Said): Promise<void> {
    const ids: string[] = [];
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
      ids.push(requestId);
    }
    // Written when an exchange is over, which may be after its client has left.
    const unknown = () => {
      const logged = new Set(said(gate, begun).text.match(/(?<="request_id":")[^"]+/g));
      return ids.filter((id) => !logged.has(id));
    };
    await expect.poll(unknown, { timeout: 20_000, message: 'taken for requests by the gate' }).toEqual([]);
  }

  return {
    run,
    async lastWords() {
      const metrics = await fetch(`${gate.admin}/metrics`).then(
        (answer) => answer.text(),
        (thrown) => `no metrics: ${thrown}`,
      );
      const counts = metrics.match(/^(coursegate_\w*(in_flight|dropped_lines)|no metrics).*$/gm) ?? [];
      return [...counts, (gate.process?.stderr() ?? '').slice(-2_000)].join('\n');
    },
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

/** How a plain request says which it is. */
const PLAIN_QUERY = /\?plain=(\d+)$/;

/** One whole request, after which the connection is read to its end: what comes back is the answer to it. */
function isPlain(bytes: string): boolean {
  return /^[A-Z]+ \S+\?plain=INDEX HTTP\/1\.1\r\nHost: HOST\r\nAuthorization: Bearer TOKEN\r\nConnection: close\r\n\r\n$/.test(
    bytes,
  );
}

/** What the gate has printed since, and where that ends. */
interface Said {
  readonly text: string;
  readonly ends: readonly [stdout: number, stderr: number];
}

function said({ process: command }: ProxyWorld, since?: Said): Said {
  const [stdout, stderr] = [command?.stdout() ?? '', command?.stderr() ?? ''];
  const [first, second] = since?.ends ?? [stdout.length, stderr.length];
  return { text: `${stdout.slice(first)}\n${stderr.slice(second)}`, ends: [stdout.length, stderr.length] };
}

/** A body that the client sees as whole is the one that the upstream sent as whole. */
function wholeOnlyIfWhole(
  client: Sent,
  answer: Sent,
  { received, how, isLong }: { received: string; how: string; isLong: boolean },
): void {
  const method = client.bytes.slice(0, client.bytes.indexOf(' '));
  const seen = strictAnswer(received, method, how === 'end' ? 'end' : 'reset');
  if (seen.kind !== 'whole' || valuesOf(seen.message.headers, 'content-type').join().includes('problem+json')) return;
  // On a busy machine a reset may arrive together with data, and is then an end to Node: libuv asks only whether the other
  // side is gone. So what only the end of its connection delimits may count as whole there.
  const states = { wait: 'open', end: 'end', reset: isLong ? 'end' : 'reset' } as const;
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
const PATIENCE = { patient: 600, hasty: 60 } as const;

async function talk(
  port: number,
  { bytes, delivery }: Sent,
  patience: number,
): Promise<{ received: string; how: string }> {
  const connection = await rawSocket(port);
  for (const piece of pieces(bytes, delivery)) {
    connection.write(piece);
    await turn();
  }
  if (delivery.ending === 'end') connection.socket.end();
  else if (delivery.ending === 'reset') setTimeout(() => connection.socket.resetAndDestroy(), 2);
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
