import type { Dispatcher } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';
import { createConnector } from './connector.ts';
import {
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  LONGEST_KEPT,
  type ResponseHandler,
} from './http-client.ts';

interface Connection {
  readonly client: Client;
  /** When it was connected; undefined while it is not. */
  since: number | undefined;
}

/**
 * The connections to one upstream: one undici client each. The most recently freed one is reused first, so that the
 * extra connections of a burst expire. undici's own Pool searches all of its clients for a free one, twice per request,
 * which is slow with thousands of open event streams, and it keeps every client it has ever created.
 *
 * One request at a time per connection: a pipelined request would wait for the one before it. No HTTP/2, because the
 * header policy does not cover its fields and framing. Admission limits the number of connections (admission.ts).
 */
export class UndiciClient implements HttpClient {
  readonly #origin: string;
  readonly #options: HttpClientOptions;
  readonly #connect: ReturnType<typeof createConnector>;
  readonly #all = new Set<Connection>();
  readonly #free: Connection[] = [];

  constructor(origin: string, options: HttpClientOptions) {
    this.#origin = origin;
    this.#options = options;
    this.#connect = createConnector(options.connectTimeout);
  }

  send(request: HttpRequest, handler: ResponseHandler, fresh: boolean): boolean {
    const connection = (fresh ? undefined : this.#free.pop()) ?? this.#open();
    const kept = connection.since !== undefined;
    const headers = [...request.headers, ...Object.entries(request.common ?? {}).flat()];
    connection.client.dispatch({ ...request, headers } as Dispatcher.DispatchOptions, handler);
    return kept;
  }

  get size(): number {
    return this.#all.size;
  }

  async end(): Promise<void> {
    this.#free.length = 0;
    await Promise.all([...this.#all].map(({ client }) => client.destroy()));
    this.#all.clear();
  }

  #open(): Connection {
    const client = new Client(this.#origin, {
      pipelining: 1,
      allowH2: false,
      connect: this.#connect,
      headersTimeout: this.#options.headersTimeout,
      // The delivery enforces this timeout: only after the head is it known whether the body is an event stream.
      bodyTimeout: 0,
    });
    const connection: Connection = { client, since: undefined };
    this.#all.add(connection);
    client.on('connect', () => {
      connection.since = this.#options.now();
    });
    client.on('connectionError', () => {
      connection.since = undefined;
    });
    client.on('disconnect', () => {
      connection.since = undefined;
      const at = this.#free.lastIndexOf(connection);
      if (at === -1) return;
      this.#free.splice(at, 1);
      this.#discard(connection);
    });
    // The request is over and the client can take another one.
    client.on('drain', () => this.#release(connection));
    return connection;
  }

  #release(connection: Connection): void {
    if (connection.since === undefined || this.#options.now() - connection.since > LONGEST_KEPT)
      this.#discard(connection);
    else this.#free.push(connection);
  }

  #discard(connection: Connection): void {
    this.#all.delete(connection);
    void connection.client.destroy();
  }
}
