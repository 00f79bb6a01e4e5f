import { connect, type Socket } from 'node:net';

/** Commands to the client process: open streams, using the tokens in turn; reset all of them at once; or close them. */
export type CrowdTold =
  | {
      readonly do: 'open';
      readonly port: number;
      readonly path: string;
      readonly streams: number;
      readonly tokens: readonly string[];
    }
  | { readonly do: 'reset' }
  | { readonly do: 'close' };

/** Its state, reported a few times per second. */
export interface CrowdSays {
  /** Open streams that have received their first event. */
  readonly open: number;
  /** First events so far, including those of streams that have ended. */
  readonly begun: number;
  /** Later events of all streams. */
  readonly ticks: number;
  /** Streams that were ended by the gate, by the number of their token. */
  readonly ended: Readonly<Record<number, number>>;
  /** Responses that were not streams, and failed connections. Each is retried. */
  readonly refused: Readonly<Record<string, number>>;
}

/** Connection attempts in progress at once, limited by the backlog of a listening socket. */
const AT_ONCE = 256;
const RETRY = 200;

interface Stream {
  readonly socket: Socket;
  left: boolean;
}

const streams = new Set<Stream>();
const ended: Record<number, number> = {};
const refused: Record<string, number> = {};
let [open, begun, ticks, connecting] = [0, 0, 0, 0];
const waiting: (() => void)[] = [];

function begin(order: Extract<CrowdTold, { do: 'open' }>, number: number): void {
  if (connecting >= AT_ONCE) return void waiting.push(() => begin(order, number));
  connecting += 1;
  const which = number % Math.max(1, order.tokens.length);
  const socket = connect({ port: order.port, host: '127.0.0.1' });
  const stream: Stream = { socket, left: false };
  let state: 'connecting' | 'open' | 'refused' = 'connecting';
  let head = '';
  streams.add(stream);
  const settled = (): void => {
    connecting -= 1;
    waiting.shift()?.();
  };
  socket
    .setNoDelay()
    .write(
      `GET ${order.path} HTTP/1.1\r\nHost: localhost:${order.port}\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${order.tokens[which]}\r\n\r\n`,
    );
  socket.on('data', (chunk) => {
    const text = chunk.toString('latin1');
    ticks += text.split('data: tick').length - 1;
    if (state !== 'connecting') return;
    head += text;
    if (!head.startsWith('HTTP/1.1 200') && head.length > 12) {
      refused[head.slice(9, 12)] = (refused[head.slice(9, 12)] ?? 0) + 1;
      state = 'refused';
      socket.destroy();
    } else if (head.includes('data: hello')) {
      state = 'open';
      open += 1;
      begun += 1;
      settled();
    }
  });
  socket.on('error', ({ message }) => {
    if (state === 'connecting' && !stream.left) refused[message] = (refused[message] ?? 0) + 1;
  });
  socket.once('close', () => {
    streams.delete(stream);
    if (state === 'open') open -= 1;
    else settled();
    if (stream.left) return;
    if (state === 'open') ended[which] = (ended[which] ?? 0) + 1;
    else setTimeout(() => begin(order, number), RETRY);
  });
}

function leave(how: (socket: Socket) => void): void {
  waiting.length = 0;
  for (const stream of streams) {
    stream.left = true;
    how(stream.socket);
  }
}

process.on('message', (told: CrowdTold) => {
  if (told.do === 'open') for (let number = 0; number < told.streams; number += 1) begin(told, number);
  if (told.do === 'reset') leave((socket) => socket.resetAndDestroy());
  if (told.do === 'close') leave((socket) => socket.destroy());
});
setInterval(() => process.send?.({ open, begun, ticks, ended, refused } satisfies CrowdSays), 100).unref();
process.once('disconnect', () => process.exit(0));
