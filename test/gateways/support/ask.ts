import { rawSocket } from '../../support/raw-socket.ts';
import { type StrictAnswer, strictAnswer } from '../../support/strict-http.ts';

export interface Asked {
  readonly method?: string;
  /** Sent byte for byte. */
  readonly target: string;
  readonly host: string;
  /** Whole lines, such as `Accept: text/html`. */
  readonly fields?: readonly string[];
  readonly body?: string;
  /** A body in chunks. */
  readonly chunks?: readonly string[];
  /** The address of this machine to send it from. */
  readonly from?: string;
}

/** Longer than a gateway waits for a decision. */
const PATIENCE_MS = 8_000;

/** Sends one request on a connection of its own. Rejects unless the answer is one complete response. */
export async function ask(port: number, asked: Asked): Promise<StrictAnswer> {
  const { method = 'GET', target, host, fields = [], body, chunks, from } = asked;
  const framing: string[] = chunks === undefined ? [] : ['Transfer-Encoding: chunked'];
  if (body !== undefined) framing.push(`Content-Length: ${body.length}`);
  const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...fields, ...framing];
  const inChunks = chunks
    ?.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
    .join('')
    .concat('0\r\n\r\n');
  const received = await send(port, `${head.join('\r\n')}\r\n\r\n${inChunks ?? body ?? ''}`, PATIENCE_MS, from);
  const reading = strictAnswer(received, method, 'end');
  if (reading.kind !== 'whole') throw new Error(`${method} ${target}: ${JSON.stringify(received.slice(0, 500))}`);
  return reading.message;
}

/** Sends bytes on a connection of its own, and returns what comes back until it is closed or `patience` is over. */
export async function send(port: number, bytes: string, patience: number, from?: string): Promise<string> {
  const connection = await rawSocket(port, from);
  connection.write(bytes);
  const timer = setTimeout(() => connection.socket.destroy(), patience);
  await connection.closed;
  clearTimeout(timer);
  return connection.received();
}
