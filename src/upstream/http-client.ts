import type { Readable } from 'node:stream';

/** A request for an upstream. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** The TLS server name (SNI) of an https upstream. */
  readonly servername: string;
  /** Names and values alternate, with Host. A stream with a Content-Length is sent with it, otherwise in chunks. */
  readonly headers: string[];
  /** More fields, of an object that many requests have in common: they are checked and written only once. */
  readonly common?: Readonly<Record<string, string>> | undefined;
  readonly body: Readable | Buffer | string | null;
}

/** The side of a request in progress that its handler controls. */
export interface RequestControl {
  /** The fields of the last response head, names and values in turn; undici has bytes. */
  readonly rawHeaders?: unknown;
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  /** Closes the connection and reports the reason to `onResponseError`. Has no effect once the request is over. */
  abort(reason: Error): void;
}

/**
 * What happens to a request: the part of undici's DispatchHandler that both clients call. What a handler throws aborts
 * the request.
 */
export interface ResponseHandler {
  /** Called once before everything else. */
  onRequestStart(control: RequestControl): void;
  /** undici only: the first byte of a response has arrived. */
  onResponseStarted?(): void;
  /** Called for interim responses, too. */
  onResponseStart(control: RequestControl, status: number): void;
  /**
   * @param release to be called when the chunk is no longer used, so that its memory can be used again; undefined if it
   * never is. Without a call the memory is left to the garbage collector.
   */
  onResponseData(control: RequestControl, chunk: Buffer, release?: () => void): void;
  onResponseEnd(): void;
  onResponseError(control: RequestControl | null, error: Error): void;
}

/** The connections to one upstream, and how requests are sent on them. */
export interface HttpClient {
  /**
   * Sends a request. Returns whether it may go out on a connection that has carried other requests before.
   * @param fresh never use a kept-alive connection
   */
  send(request: HttpRequest, handler: ResponseHandler, fresh: boolean): boolean;
  /** Number of connections, in use or idle. */
  readonly size: number;
  /** Closes all connections, including those in use. */
  end(): Promise<void>;
}

export interface HttpClientOptions {
  /** Milliseconds for name resolution, TCP and TLS together. */
  readonly connectTimeout: number;
  /** Milliseconds from sending the request to the head of the response. */
  readonly headersTimeout: number;
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number;
}

/** Milliseconds after which a connection is not reused, so that a change of the upstream's DNS record takes effect. */
export const LONGEST_KEPT = 5 * 60_000;

/**
 * The fields of the last response head. undici has bytes: a field is Latin-1 and is passed on as the same bytes, but
 * white space around a value is not part of it (RFC 9112 section 5.1), and undici keeps what follows.
 */
export function responseFields({ rawHeaders }: RequestControl): readonly string[] {
  if (!Array.isArray(rawHeaders)) return [];
  if (typeof rawHeaders[0] === 'string') return rawHeaders;
  return rawHeaders.map((part: Buffer) => part.toString('latin1', 0, endOfValue(part)));
}

function endOfValue(part: Buffer): number {
  let end = part.length;
  while (part[end - 1] === 0x20 || part[end - 1] === 0x09) end -= 1;
  return end;
}
