import { createConnection, createServer, type NetConnectOpts, type Socket } from 'node:net';

/** Where in the traffic something happens: what the client sends that matches, or the first answer after that. */
interface Point {
  readonly pattern: RegExp;
  readonly at: 'request' | 'answer';
  /** How many matches pass before it. */
  readonly after?: number;
}

export interface ChaosProxy {
  readonly port: number;
  /** Delays every answer by so many milliseconds; asked anew for each. Answers stay in order. */
  delay(milliseconds: () => number): void;
  /** From now on bytes go nowhere, in either direction, and connections stay open; new ones too. */
  blackhole(): void;
  /** The same for those connections only whose client has sent, or will send, what matches. */
  blackholeThose(pattern: RegExp): void;
  /** Resets what is connected. */
  cut(): void;
  /** Resets what is connected and whatever connects, until healed. */
  refuse(): void;
  /** Passes on again, on new connections; those that lost bytes are reset. */
  heal(): void;
  /** Resolves when the traffic is at that point; what matched goes no further, nor does anything after it. */
  reached(point: Point): Promise<void>;
  /** How many connections stand now. */
  readonly connections: () => number;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  sent: string;
  /** Bytes of it went nowhere: it can never be whole again. */
  mute: boolean;
  /** The answer to what was just passed on is waited for. */
  awaited: boolean;
  lastAnswer: Promise<void>;
}

/** How much of what a client sent is remembered, to tell connections apart. */
const MEMORY = 4096;

/** A TCP proxy that ills can be laid on. In: where it leads. */
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
    if (link.awaited) return reachedBy(link);
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
      // Who hears nothing does not hear that either.
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
    reached: ({ pattern, at, after = 0 }) =>
      new Promise((reach) => {
        watched = { pattern, at, left: after, reach };
      }),
    connections: () => links.size,
    async close() {
      for (const link of links) drop(link);
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
