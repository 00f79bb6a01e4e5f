import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A request as an upstream received it. */
interface Recorded {
  readonly method: string;
  /** The request target, byte for byte. */
  readonly target: string;
  /** Names and values alternate, as received. */
  readonly rawHeaders: readonly string[];
  /** What has been received of the body so far. */
  readonly body: Buffer;
  /** All values of a field. The name is case-insensitive. */
  values(name: string): string[];
  /** Resolves when the whole body has been received; rejects when the client disconnects first. */
  readonly whole: Promise<void>;
  /** Resolves when the exchange ends, for any reason. */
  readonly closed: Promise<void>;
}

/** Handles a request at the upstream. */
export type Script = (request: IncomingMessage, response: ServerResponse, recorded: Recorded) => void | Promise<void>;

export interface RecordingUpstream {
  /** In the form `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly requests: readonly Recorded[];
  /** The last request. Throws when there was none. */
  last(): Recorded;
  /** Replaces the script from now on. */
  script(script: Script): void;
  /** Sets the handler for upgrade requests. Without one they are closed. */
  onUpgrade(handler: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void;
  /** Connections accepted so far. */
  connections(): number;
  readonly server: Server;
  close(): Promise<void>;
}

/** Responds with 200 and `{"ok":true}` once the whole request has been received. */
export const answerOk: Script = async (_request, response, recorded) => {
  await recorded.whole;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end('{"ok":true}');
};

/** Starts a real HTTP server on a free port that records its requests and responds from a script. */
export async function startRecordingUpstream(first: Script = answerOk): Promise<RecordingUpstream> {
  const requests: Recorded[] = [];
  let script = first;
  let accepted = 0;
  let upgrade = (_request: IncomingMessage, socket: Duplex, _head: Buffer): void => {
    socket.destroy();
  };
  const server = createServer((request, response) => {
    const recorded = record(request, response);
    requests.push(recorded);
    Promise.resolve(script(request, response, recorded)).catch(() => response.destroy());
  });
  server.on('connection', () => {
    accepted += 1;
  });
  server.on('upgrade', (request, socket: Duplex, head) => {
    socket.on('error', () => socket.destroy());
    requests.push(record(request, undefined));
    upgrade(request, socket, head);
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    last() {
      const last = requests.at(-1);
      if (last === undefined) throw new Error('The upstream received no request.');
      return last;
    },
    script(next) {
      script = next;
    },
    onUpgrade(handler) {
      upgrade = handler;
    },
    connections: () => accepted,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface RawUpstream {
  readonly url: string;
  /** Everything received, one entry per connection. */
  readonly received: readonly string[];
  close(): Promise<void>;
}

/**
 * A TCP server for responses that no HTTP library would write. `answer` is called once per request head (everything up
 * to an empty line), with the connection and its number, counted from 0.
 */
export async function startRawUpstream(answer: (socket: Socket, connection: number) => void): Promise<RawUpstream> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createNetServer((socket) => {
    const connection = received.push('') - 1;
    let head = '';
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      const text = chunk.toString('latin1');
      received[connection] += text;
      head += text;
      for (let end = head.indexOf('\r\n\r\n'); end !== -1; end = head.indexOf('\r\n\r\n')) {
        head = head.slice(end + 4);
        answer(socket, connection);
      }
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function record(request: IncomingMessage, response: ServerResponse | undefined): Recorded {
  const chunks: Buffer[] = [];
  if (response !== undefined) request.on('data', (chunk: Buffer) => chunks.push(chunk));
  const whole = new Promise<void>((resolve, reject) => {
    request.on('end', resolve);
    request.on('close', () => reject(new Error('The sender left before the end of the body.')));
  });
  // Most scripts do not await it.
  whole.catch(() => undefined);
  request.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => (response ?? request.socket).on('close', () => resolve()));
  return {
    method: request.method ?? '',
    target: request.url ?? '',
    rawHeaders: request.rawHeaders,
    get body() {
      return Buffer.concat(chunks);
    },
    values: (name) =>
      request.rawHeaders.filter(
        (_, at) => at % 2 === 1 && request.rawHeaders[at - 1]?.toLowerCase() === name.toLowerCase(),
      ),
    whole,
    closed,
  };
}

function listen(server: Server | NetServer): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
