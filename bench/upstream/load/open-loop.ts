import { connect, type Socket } from 'node:net';

/**
 * Open-loop load in a separate process: requests at a fixed average rate (Poisson arrivals) on 64 keep-alive connections,
 * whether or not earlier ones have finished. Latency is counted from the time a request was due, so that queueing behind a slow
 * subject is included. Takes port, path, tokens, rate, seconds and settle as JSON in its argument, and prints a JSON object.
 */
interface Order {
  readonly port: number;
  readonly path: string;
  readonly tokens: readonly string[];
  readonly rate: number;
  readonly seconds: number;
  /** Warm-up time that is not counted, in seconds. */
  readonly settle: number;
}

const CONNECTIONS = 64;
const order = JSON.parse(process.argv[2] ?? '{}') as Order;

const prepared = (order.tokens.length === 0 ? ['none'] : order.tokens).map((token) =>
  Buffer.from(
    `GET ${order.path} HTTP/1.1\r\nHost: 127.0.0.1:${order.port}\r\nAccept: application/json\r\nAccept-Encoding: gzip, br\r\nAccept-Language: en\r\nUser-Agent: assistant/1.0\r\nX-Trace: bench\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  ),
);

interface Line {
  readonly socket: Socket;
  due: number;
  /** Bytes of the response still to come; -1 before its headers have arrived. */
  left: number;
}

const latencies: number[] = [];
const free: Line[] = [];
const waiting: number[] = [];
let next = 0;
let inFlight = 0;
const started = performance.now() + 100;
const end = started + (order.seconds + order.settle) * 1000;
const counted = started + order.settle * 1000;

function open(): Promise<Line> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: order.port, host: '127.0.0.1', noDelay: true });
    const line: Line = { socket, due: 0, left: -1 };
    socket.once('connect', () => resolve(line));
    socket.once('error', reject);
    socket.once('close', () => {
      throw new Error('the subject closed a connection');
    });
    socket.on('data', (chunk) => onData(line, chunk));
  });
}

function onData(line: Line, chunk: Buffer): void {
  if (line.left === -1) {
    // Headers arrive in one piece: they are small and written at once.
    const head = chunk.indexOf('\r\n\r\n');
    const text = chunk.toString('latin1', 0, head);
    const length = /content-length: (\d+)/i.exec(text)?.[1];
    if (head === -1 || !text.startsWith('HTTP/1.1 200') || length === undefined)
      throw new Error(`unexpected response: ${text}`);
    line.left = Number(length) - (chunk.length - head - 4);
  } else line.left -= chunk.length;
  if (line.left > 0) return;
  const now = performance.now();
  if (line.due >= counted) latencies.push(now - line.due);
  inFlight -= 1;
  line.left = -1;
  const due = waiting.shift();
  if (due === undefined) free.push(line);
  else send(line, due);
}

function send(line: Line, due: number): void {
  line.due = due;
  inFlight += 1;
  next = (next + 1) % prepared.length;
  line.socket.write(prepared[next] as Buffer);
}

free.push(...(await Promise.all(Array.from({ length: CONNECTIONS }, open))));
let due = started;
/** Polls the clock: timers are late by up to a millisecond, which is more than the measured latencies. */
function tick(): void {
  const now = performance.now();
  while (due <= now && due < end) {
    const line = free.pop();
    if (line === undefined) waiting.push(due);
    else send(line, due);
    due += (-Math.log(1 - Math.random()) * 1000) / order.rate;
  }
  if (now < end || (inFlight > 0 && now < end + 5000)) {
    setImmediate(tick);
    return;
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
  const result = { p50: at(0.5), p99: at(0.99), count: latencies.length, unanswered: inFlight + waiting.length };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit());
}
tick();
