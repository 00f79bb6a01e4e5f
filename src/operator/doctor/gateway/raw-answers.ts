import { openSocket, type ServerAddress } from '../connection.ts';
import { timeOver } from '../unavailable.ts';
import type { Field } from './echo.ts';

/** A response as received on a raw connection. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: readonly Field[];
  /** The body as UTF-8, as far as it was received. */
  readonly text: string;
  /** Whether the whole body was received. */
  readonly complete: boolean;
}

/** The first value of a field, '' if missing. */
export function fieldOf({ headers }: RawAnswer, name: string): string {
  return headers.find(([one]) => one.toLowerCase() === name)?.[1] ?? '';
}

/** The final responses in what a connection received (Latin-1), up to the first bytes that are not HTTP. */
export function parseAnswers(received: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let at = 0; at < received.length; ) {
    const end = received.indexOf('\r\n\r\n', at);
    const [start = '', ...lines] = received.slice(at, end).split('\r\n');
    const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(start)?.[1]);
    if (end === -1 || Number.isNaN(status)) break;
    at = end + 4;
    // An interim response, such as 100 Continue.
    if (status < 200 && status !== 101) continue;
    const headers = lines.map((line): Field => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    });
    const body = bodyAt(received, at, status, headers);
    answers.push({
      status,
      headers,
      text: Buffer.from(body.bytes, 'latin1').toString('utf8'),
      complete: body.complete,
    });
    at = body.end;
  }
  return answers;
}

interface Body {
  readonly bytes: string;
  readonly end: number;
  readonly complete: boolean;
}

/** RFC 9112 section 6.3, for responses. */
function bodyAt(received: string, at: number, status: number, headers: readonly Field[]): Body {
  const value = (name: string) => headers.find(([one]) => one.toLowerCase() === name)?.[1];
  if (status === 204 || status === 304) return { bytes: '', end: at, complete: true };
  if (/chunked/i.test(value('transfer-encoding') ?? '')) return chunksAt(received, at);
  const length = Number(value('content-length') ?? Number.NaN);
  if (Number.isNaN(length)) return { bytes: received.slice(at), end: received.length, complete: false };
  const end = Math.min(at + length, received.length);
  return { bytes: received.slice(at, end), end, complete: end === at + length };
}

function chunksAt(received: string, start: number): Body {
  let bytes = '';
  for (let at = start; ; ) {
    const line = received.indexOf('\r\n', at);
    const size = Number.parseInt(received.slice(at, line), 16);
    if (line === -1 || Number.isNaN(size)) return { bytes, end: received.length, complete: false };
    if (size === 0) {
      // The last chunk is followed by trailers and an empty line.
      const end = received.indexOf('\r\n\r\n', at);
      return end === -1 ? { bytes, end: received.length, complete: false } : { bytes, end: end + 4, complete: true };
    }
    bytes += received.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}

/** The most bytes that are read of one connection. */
const LONGEST = 512 * 1024;

/**
 * Sends bytes (Latin-1) on a connection of their own, and resolves to everything received until the other side closes
 * it, `enough` is true, or `patience` is over. Nothing is normalised on the way, as fetch would do. Throws NoAnswer if
 * there is no connection, and Unavailable when the time for everything is over.
 */
export async function sendRaw(
  to: ServerAddress,
  bytes: string,
  enough: (received: string) => boolean = () => false,
): Promise<string> {
  const socket = await openSocket(to);
  const received = await new Promise<string>((resolve) => {
    let text = '';
    const finish = () => {
      clearTimeout(timer);
      to.signal.removeEventListener('abort', finish);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(finish, to.patience);
    to.signal.addEventListener('abort', finish);
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.length > LONGEST || enough(text)) finish();
    });
    // An error is followed by `close`. A gateway may refuse by closing, even before it has read everything.
    socket.on('error', () => undefined).on('close', finish);
    socket.write(bytes, 'latin1');
  });
  if (to.signal.aborted) throw timeOver();
  return received;
}
