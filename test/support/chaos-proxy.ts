import { createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** A point in the traffic: a client message that matches `pattern`, or the first response after it. */
interface Point {
  readonly pattern: RegExp;
  readonly at: 'request' | 'answer';
  /** What the response contains. Needed where responses to earlier messages may still be on their way. */
  readonly answer?: RegExp;
  /** How many matches to let pass first. */
  readonly after?: number;
}

export interface ChaosProxy {
  readonly port: number;
  /**
   * Delays every response by the returned number of milliseconds; the function is called for each one. Responses stay
   * in order.
   */
  delay(milliseconds: () => number): void;
  /** From now on drops all bytes in both directions while connections, including new ones, stay open. */
  blackhole(): void;
  /** The same, but only for connections whose client has sent or will send a match. */
  blackholeThose(pattern: RegExp): void;
  /** Resets all current connections. */
  cut(): void;
  /** Resets all current and new connections until `heal()`. */
  refuse(): void;
  /** Forwards again on new connections. Connections that lost bytes are reset. */
  heal(): void;
  /** Resolves when the traffic reaches that point. The matching bytes and everything after them are dropped. */
  reached(point: Point): Promise<void>;
  /** The number of open connections. */
  readonly connections: () => number;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  sent: string;
  /** Bytes of this connection were dropped, so it can never be consistent again. */
  mute: boolean;
  /** Waiting for the response to what was just forwarded. */
  awaited: boolean;
  lastAnswer: Promise<void>;
}

/** How many bytes of each client's traffic are remembered, to tell connections apart. */
const MEMORY = 4096;

/** Starts a TCP proxy to `to` that can inject network faults. */
export async function startChaosProxy(to: NetConnectOpts): Promise<ChaosProxy> {
  const links = new Set<Link>();
  let latency = () => 0;
  let refusing = false;
  let mute = (_link: Link) => false;
  let watched: (Point & { left: number; readonly reach: () => void }) | undefined;

  const drop = (link: Link) => {
    links.delete(link);
    link.client.destroy();
    link.server.destroy();
  };
  const muted = (link: Link) => {
    link.mute ||= mute(link);
    return link.mute;
  };
  const reachedBy = (link: Link) => {
    link.mute = true;
    const reach = watched?.reach;
    watched = undefined;
    mute = () => true;
    reach?.();
  };

  const fromClient = (link: Link, data: Buffer) => {
    const text = data.toString('latin1');
    link.sent = (link.sent + text).slice(-MEMORY);
    if (muted(link)) return;
    if (watched?.pattern.test(text)) {
      watched.left -= 1;
      if (watched.left < 0) {
        if (watched.at === 'request') return reachedBy(link);
        link.awaited = true;
      }
    }
    link.server.write(data);
  };
  const fromServer = (link: Link, data: Buffer) => {
    if (muted(link)) return;
    if (link.awaited && (watched?.answer?.test(data.toString('latin1')) ?? true)) return reachedBy(link);
    const wait = latency();
    if (wait === 0) {
      link.lastAnswer = link.lastAnswer.then(() => void link.client.write(data));
      return;
    }
    const due = new Promise<void>((resolve) => setTimeout(resolve, wait));
    link.lastAnswer = Promise.all([link.lastAnswer, due]).then(() => {
      if (!link.mute && !link.client.destroyed) link.client.write(data);
    });
  };

  const proxy = createServer((client) => {
    client.on('error', () => {});
    if (refusing) return void client.resetAndDestroy();
    const server = createConnection(to);
    const link: Link = { client, server, sent: '', mute: false, awaited: false, lastAnswer: Promise.resolve() };
    links.add(link);
    server.on('error', () => {});
    client.on('data', (data) => fromClient(link, data));
    server.on('data', (data) => fromServer(link, data));
    client.on('close', () => drop(link));
    server.on('close', () => {
      // A muted client must not notice the close either.
      if (!muted(link)) drop(link);
    });
  });
  const port = await new Promise<number>((resolve) => {
    proxy.listen(0, '127.0.0.1', () => resolve((proxy.address() as { port: number }).port));
  });

  return {
    port,
    delay: (milliseconds) => {
      latency = milliseconds;
    },
    blackhole() {
      mute = () => true;
    },
    blackholeThose(pattern) {
      mute = ({ sent }) => pattern.test(sent);
    },
    cut() {
      for (const link of links) drop(link);
    },
    refuse() {
      refusing = true;
      for (const link of links) drop(link);
    },
    heal() {
      refusing = false;
      latency = () => 0;
      mute = () => false;
      watched = undefined;
      for (const link of links) if (link.mute) drop(link);
    },
    reached: ({ after = 0, ...point }) =>
      new Promise((reach) => {
        watched = { ...point, left: after, reach };
      }),
    connections: () => links.size,
    async close() {
      for (const link of links) drop(link);
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
