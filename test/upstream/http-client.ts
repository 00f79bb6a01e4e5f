import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { upstreamFailure } from '../../src/upstream/failures.ts';
import { type HttpClient, type RequestControl, responseFields } from '../../src/upstream/http-client.ts';
import { Http1Client } from '../../src/upstream/http1/http1-client.ts';
import { UndiciClient } from '../../src/upstream/undici-client.ts';

export const CLIENTS = { 'our own client': Http1Client, undici: UndiciClient };
export type ClientName = keyof typeof CLIENTS;

/** A client alone, and an upstream of bare sockets. */
export interface ClientWorld {
  readonly client: HttpClient;
  /** Called with each connection, its number from 1, and all that it has received, when something arrives. */
  serve(work: (socket: Socket, connection: number, received: string) => void): void;
  /** Connections that the upstream has accepted. */
  readonly accepted: readonly Socket[];
  close(): Promise<void>;
}

export async function startClient(name: ClientName, headersTimeout = 10_000): Promise<ClientWorld> {
  let work: (socket: Socket, connection: number, received: string) => void = () => undefined;
  const accepted: Socket[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    const connection = accepted.push(socket);
    let received = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
      work(socket, connection, received);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new CLIENTS[name](origin, { connectTimeout: 10_000, headersTimeout, now: () => performance.now() });
  return {
    client,
    serve(next) {
      work = next;
    },
    accepted,
    async close() {
      await client.end();
      for (const socket of accepted) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What a handler has been told of one request. */
export interface Told {
  readonly statuses: number[];
  fields: readonly string[];
  readonly chunks: string[];
  readonly body: string;
  /** How it ended: `complete`, or the code of the failure. Undefined while it is in progress. */
  outcome: string | undefined;
  error: Error | undefined;
  readonly isStarted: boolean;
  readonly control: RequestControl;
  /** Resolves when it has ended. */
  readonly over: Promise<Told>;
}

interface Asked {
  readonly method?: string;
  readonly body?: Readable | Buffer | string | null;
  readonly headers?: readonly string[];
  readonly fresh?: boolean;
  readonly onHead?: (control: RequestControl) => void;
  readonly onData?: (control: RequestControl, chunk: Buffer, release: (() => void) | undefined) => void;
}

export function ask(client: HttpClient, path: string, asked: Asked = {}): Told {
  const ended = Promise.withResolvers<Told>();
  let known: RequestControl | undefined;
  const told: Told = {
    statuses: [],
    fields: [],
    chunks: [],
    get body() {
      return this.chunks.join('');
    },
    outcome: undefined,
    error: undefined,
    get isStarted() {
      return known !== undefined;
    },
    get control() {
      if (known === undefined) throw new Error('The request has not been started.');
      return known;
    },
    over: ended.promise,
  };
  const end = (outcome: string) => {
    // A handler is told of one end only.
    told.outcome = told.outcome === undefined ? outcome : `${told.outcome}, ${outcome}`;
    ended.resolve(told);
  };
  const { method = 'GET', body = null, headers = [], fresh = false } = asked;
  const request = { method, path, servername: '', headers: ['Host', 'upstream.test', ...headers], body };
  client.send(
    request,
    {
      onRequestStart(control) {
        known = control;
      },
      onResponseStart(control, status) {
        told.statuses.push(status);
        told.fields = responseFields(control);
        if (status >= 200) asked.onHead?.(control);
      },
      onResponseData(control, chunk, release) {
        told.chunks.push(chunk.toString('latin1'));
        if (asked.onData === undefined) release?.();
        else asked.onData(control, chunk, release);
      },
      onResponseEnd: () => end('complete'),
      onResponseError(_control, error) {
        told.error = error;
        end(upstreamFailure(error).code);
      },
    },
    fresh,
  );
  return told;
}
