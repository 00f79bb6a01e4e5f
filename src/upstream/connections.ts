import { Client, Dispatcher } from 'undici';
import { createConnector } from './connector.ts';

/** Milliseconds after which a connection is not used again, so that a name that moved to another address is followed. */
const LONGEST_KEPT = 5 * 60_000;

interface Connection {
  readonly client: Client;
  /** When it was made; undefined while there is none. */
  since: number | undefined;
}

export interface ConnectionsOptions {
  /** Milliseconds. */
  readonly connectTimeout: number;
  /** Milliseconds for the head of an answer, from when the request was sent. */
  readonly headersTimeout: number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
}

/**
 * The connections to one upstream: undici clients, of which the one that was free last is used next, so that those a
 * burst has left over run out by themselves. undici's own Pool looks through all of its clients for a free one, twice
 * for each request, which thousands of open event streams make slow, and keeps every one it ever needed.
 *
 * One request at a time on each: a pipelined one would wait for its predecessor. No HTTP/2, whose fields and framing
 * the header policy does not know. How many there are is bounded by who is admitted (admission.ts).
 */
export class Connections extends Dispatcher {
  readonly #origin: string;
  readonly #options: ConnectionsOptions;
  readonly #connect: ReturnType<typeof createConnector>;
  readonly #all = new Set<Connection>();
  readonly #free: Connection[] = [];
  /** As a dispatcher that never uses a kept connection. */
  readonly fresh: Dispatcher;

  constructor(origin: string, options: ConnectionsOptions) {
    super();
    this.#origin = origin;
    this.#options = options;
    this.#connect = createConnector(options.connectTimeout);
    this.fresh = new Fresh(this);
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.send(options, handler, false);
    return true;
  }

  /** Out: whether the request goes out on a connection that carried others before. */
  send(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler, fresh: boolean): boolean {
    const connection = (fresh ? undefined : this.#free.pop()) ?? this.#open();
    const kept = connection.since !== undefined;
    connection.client.dispatch(options, handler);
    return kept;
  }

  /** How many there are, in use or kept. */
  get size(): number {
    return this.#all.size;
  }

  /** Ends all of them, also those in use. */
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
      // Timed by the delivery: only after the head is it known whether the body is an event stream.
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
    // The request is over, and the client would take another.
    client.on('drain', () => this.#release(connection));
    return connection;
  }

  #release(connection: Connection): void {
    if (connection.since === undefined || this.#options.now() - connection.since > LONGEST_KEPT) {
      this.#discard(connection);
    } else this.#free.push(connection);
  }

  #discard(connection: Connection): void {
    this.#all.delete(connection);
    void connection.client.destroy();
  }
}

class Fresh extends Dispatcher {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    super();
    this.#connections = connections;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.#connections.send(options, handler, true);
    return true;
  }
}
