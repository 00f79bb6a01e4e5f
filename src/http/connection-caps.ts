import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './client-network.ts';
import { canonicalAddress, trustedProxies } from './trusted-proxies.ts';
import { countUntilClosed } from './when-closed.ts';

export interface ConnectionCaps {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Proxies, whose connections carry many clients: only the total limit applies to them. */
  readonly trustedProxies: readonly string[];
}

/**
 * The response to a client over the limit. The client has not sent a request yet, and takes it for the response to its
 * first.
 */
const REFUSAL =
  'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
/** Milliseconds that a refused client has to read the response. */
const FAREWELL = 1_000;
/**
 * How many refused clients are sent the response at a time. Beyond that, connections are closed without one, because
 * writing it costs us resources too.
 */
const MOST_ANSWERED = 256;
/** The key of all connections, next to those of their networks. */
const TOTAL = 'total';
/** Milliseconds between two attempts to close idle connections. */
const SEARCH_EVERY = 1_000;

/**
 * Limits the connections to a server, in total and per client address, whether or not they carry requests: each one
 * takes memory and a file descriptor. When the total is reached, idle keep-alive connections are closed to make room.
 * Must be called before any other listener is added to the server's connections, so that nothing is read from refused
 * ones.
 */
export function capConnections(server: Server, caps: ConnectionCaps): void {
  const { maxConnections, maxConnectionsPerAddress } = caps;
  const isProxy = trustedProxies(caps.trustedProxies);
  const open = new Map<string, number>();
  let answering = 0;
  let searched = Number.NEGATIVE_INFINITY;

  const refuse = (socket: Socket): void => {
    if (answering >= MOST_ANSWERED) {
      socket.destroy();
      return;
    }
    answering += 1;
    const end = setTimeout(() => socket.destroy(), FAREWELL);
    socket
      .on('error', () => undefined)
      .once('close', () => {
        clearTimeout(end);
        answering -= 1;
      });
    // Reads and drops what the client sends, or the kernel would reset the connection and the response would be lost.
    socket.resume().end(REFUSAL);
  };

  const makeRoom = (): void => {
    const now = performance.now();
    if (now - searched < SEARCH_EVERY) return;
    searched = now;
    server.closeIdleConnections();
  };

  const accept = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const address = canonicalAddress(socket.remoteAddress ?? '');
    const network = address === '' || isProxy(address) ? undefined : networkOf(address);
    if (network !== undefined && (open.get(network) ?? 0) >= maxConnectionsPerAddress) return refuse(socket);
    if ((open.get(TOTAL) ?? 0) >= maxConnections) {
      makeRoom();
      return refuse(socket);
    }
    countUntilClosed(open, TOTAL, socket);
    if (network !== undefined) countUntilClosed(open, network, socket);
    for (const listener of accept) listener.call(server, socket);
  });
}
