import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { upstreamFailure } from '../../src/upstream/failures.ts';
import { type HttpClient, type RequestControl, responseFields } from '../../src/upstream/http-client.ts';
import { Http1Client } from '../../src/upstream/http1/http1-client.ts';
import { UndiciClient } from '../../src/upstream/undici-client.ts';
import type { HostileAnswer } from './hostile-answers.ts';

/** What one client made of an answer. */
export interface Outcome {
  /** `cut` after the head of a final response, `refused` before it. */
  readonly kind: 'complete' | 'cut' | 'refused';
  readonly failure: string;
  /** What our own client found wrong. */
  readonly cause: string;
  readonly status: number;
  readonly fields: readonly string[];
  readonly body: string;
  /** Whether the next request was sent on the same connection. */
  readonly reused: boolean;
  /** Whether the next request got its own response. */
  readonly nextIsRight: boolean;
}

/** Turns of the event loop in which everything that was sent over loopback has arrived. */
const SETTLED = 4;

/** Both clients, and an upstream in this process that answers each of their requests as it is told. */
export interface ClientPair {
  /** Sends the same answer to both clients, each with a request of its own, followed by a harmless one. */
  compare(answer: HostileAnswer): Promise<{ http1: Outcome; undici: Outcome }>;
  close(): Promise<void>;
}

export async function startClientPair(): Promise<ClientPair> {
  const asked = new Map<string, (socket: Socket) => void>();
  const server = createServer({ noDelay: true }, (socket) => {
    let head = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end === -1) return;
      const path = /^\S+ (\S+)/.exec(head)?.[1] ?? '';
      // The body of a POST arrives with its head.
      head = '';
      asked.get(path)?.(socket);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { connectTimeout: 20_000, headersTimeout: 60_000, now: () => performance.now() };
  const clients = { http1: new Http1Client(origin, options), undici: new UndiciClient(origin, options) };
  let requests = 0;

  async function outcomeOf(client: HttpClient, answer: HostileAnswer): Promise<Outcome> {
    requests += 1;
    const path = `/${requests}`;
    let connection: Socket | undefined;
    let isOver = false;
    const delivered = new Promise<void>((resolve) => {
      asked.set(path, (socket) => {
        asked.delete(path);
        connection = socket;
        void deliver(answer, socket, () => isOver).then(resolve);
      });
    });
    const seen = await ask(client, answer.method, path);
    isOver = true;
    await delivered;
    await turns();
    // Without a connection there is nothing to use again.
    if (seen.kind !== 'complete' && connection?.destroyed === true)
      return { ...seen, reused: false, nextIsRight: true };
    let isSame = false;
    asked.set(`${path}/next`, (socket) => {
      isSame = socket === connection;
      asked.delete(`${path}/next`);
      const body = `next ${path}`;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
    const next = await ask(client, 'GET', `${path}/next`);
    if (!isSame) connection?.destroy();
    return { ...seen, reused: isSame, nextIsRight: next.kind === 'complete' && next.body === `next ${path}` };
  }

  return {
    async compare(answer) {
      const http1 = await outcomeOf(clients.http1, answer);
      return { http1, undici: await outcomeOf(clients.undici, answer) };
    },
    async close() {
      await Promise.all([clients.http1.end(), clients.undici.end()]);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Writes an answer piece by piece. One that has not ended by itself is ended, so that nobody has to wait. */
async function deliver({ pieces, ending }: HostileAnswer, socket: Socket, isOver: () => boolean): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece, 'latin1');
    await turn();
  }
  if (ending === 'end') socket.end();
  await turns();
  if (ending === 'reset') socket.resetAndDestroy();
  else if (!isOver()) socket.end();
}

async function turns(): Promise<void> {
  for (let n = 0; n < SETTLED; n += 1) await turn();
}

type Seen = Omit<Outcome, 'reused' | 'nextIsRight'>;

function ask(client: HttpClient, method: string, path: string): Promise<Seen> {
  return new Promise((resolve) => {
    let status = 0;
    let fields: readonly string[] = [];
    let body = '';
    const over = (kind: Seen['kind'], failure = '', cause = '') =>
      resolve({ kind, failure, cause, status, fields, body });
    const request = {
      method,
      path,
      servername: '',
      headers: ['Host', 'upstream.test'],
      body: method === 'POST' ? Buffer.from('body') : null,
    };
    client.send(
      request,
      {
        onRequestStart: () => undefined,
        onResponseStart(control: RequestControl, given: number) {
          if (given < 200) return;
          status = given;
          fields = responseFields(control);
        },
        onResponseData(_control: RequestControl, chunk: Buffer, release?: () => void) {
          body += chunk.toString('latin1');
          // What is used again must not show: a client that kept the chunk would see this.
          if (release !== undefined) {
            chunk.fill(0);
            release();
          }
        },
        onResponseEnd: () => over('complete'),
        onResponseError(_control, error) {
          const cause = error.cause instanceof Error ? error.cause.message : '';
          over(status === 0 ? 'refused' : 'cut', upstreamFailure(error).code, cause);
        },
      },
      false,
    );
  });
}
