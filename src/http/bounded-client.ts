import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from 'node:http';
import { type RequestOptions, request as secureRequest } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { serverName } from './host.ts';

/** How to connect: `agent` is the pool of connections, false for a new connection. */
type Connection = Pick<
  RequestOptions,
  'agent' | 'allowPartialTrustChain' | 'ca' | 'cert' | 'checkServerIdentity' | 'key' | 'lookup'
>;

export interface BoundedRequest extends Connection {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /** Ends the whole exchange, from the connection to the last byte of the response. */
  readonly signal: AbortSignal;
  /** The most bytes of the body that are read, as sent and after decompression. */
  readonly longest: number;
  /** Called before the body is read. What it throws ends the exchange. */
  readonly inspect?: (response: IncomingMessage) => void;
}

export interface BoundedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed, and truncated to `longest`. */
  readonly body: Buffer;
  /** Whether the body was truncated. */
  readonly cut: boolean;
}

/** Milliseconds to wait for the first event of an event stream, of which nothing more is read. */
const FIRST_EVENT = 1500;

const DECODERS: Readonly<Record<string, () => NodeJS.ReadWriteStream>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * The HTTP client for everything that is fetched from a site that may be hostile. Memory and time are bounded, and
 * redirects are returned, never followed. Throws the error of the connection, or the reason of `signal`.
 */
export async function boundedExchange(target: URL, request: BoundedRequest): Promise<BoundedResponse> {
  const { method = 'GET', headers = {}, body, signal, longest, inspect, ...connection } = request;
  signal.throwIfAborted();
  const sent = (target.protocol === 'https:' ? secureRequest : plainRequest)(target, {
    ...connection,
    method,
    signal,
    // Otherwise Node takes it from the Host header, and a forged one would not match the certificate.
    servername: serverName(target),
    headers: {
      'accept-encoding': 'identity',
      ...(body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
  });
  const answered = once(sent, 'response', { signal }) as Promise<[IncomingMessage]>;
  // After the response has begun, its own errors say enough.
  sent.on('error', () => undefined);
  sent.end(body);
  try {
    const [response] = await answered;
    inspect?.(response);
    const isStream = /^text\/event-stream/i.test(response.headers['content-type'] ?? '');
    const read = isStream ? await readBeginning(response, longest) : await readAll(response, longest);
    const { statusCode: status = 0, statusMessage: statusText = '', headers: received } = response;
    return { status, statusText, headers: received, ...read };
  } catch (thrown) {
    throw signal.aborted ? signal.reason : thrown;
  } finally {
    sent.destroy();
  }
}

/** The first event, and what comes with it. A stream may never end, and one without events so far is valid too. */
async function readBeginning(response: IncomingMessage, longest: number): Promise<Read> {
  let read = Buffer.alloc(0);
  const event = new Promise<void>((resolve) => {
    response.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      if (read.length > longest || /^data:[^\n]*\n\r?\n/m.test(read.toString('latin1'))) resolve();
    });
  });
  await Promise.race([event, once(response, 'end'), sleep(FIRST_EVENT, undefined, { ref: false })]);
  return { body: read.subarray(0, longest), cut: false };
}

type Read = Pick<BoundedResponse, 'body' | 'cut'>;

async function readAll(response: IncomingMessage, longest: number): Promise<Read> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of decoded(response, longest)) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > longest) break;
  }
  return { body: Buffer.concat(chunks, Math.min(length, longest)), cut: length > longest };
}

/** The body without its content coding. A server may use one although none is asked for. */
function decoded(response: IncomingMessage, longest: number): Readable {
  const coding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (!Object.hasOwn(DECODERS, coding)) return response;
  let received = 0;
  response.on('data', (chunk: Buffer) => {
    received += chunk.length;
    if (received > longest) response.destroy(new Error(`the response has more than ${longest} compressed bytes`));
  });
  return pipeline(response, DECODERS[coding]?.() as NodeJS.ReadWriteStream, () => undefined) as unknown as Readable;
}

/** As the `Response` of `fetch`. Throws RangeError for a status that it cannot have. */
export function asFetchResponse(url: URL, { status, statusText, headers, body }: BoundedResponse): Response {
  const fields = Object.entries(headers).flatMap(([name, value = []]) => [value].flat().map((one) => [name, one]));
  const empty = [204, 205, 304].includes(status);
  const response = new Response(empty ? null : Uint8Array.from(body), {
    status,
    statusText,
    headers: fields as [string, string][],
  });
  return Object.defineProperty(response, 'url', { value: url.href });
}
