import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from './client-network.ts';
import { canonicalAddress, trustedProxies } from './trusted-proxies.ts';

export interface ConnectionCaps {
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  /** Whose connections are many clients': only the first bound holds for them. */
  readonly trustedProxies: readonly string[];
}

/** What a client is told that is one too many. It has asked nothing yet, and takes this for the answer to what it asks. */
const REFUSAL =
  'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: 0\r\n\r\n';
/** Milliseconds in which a refused client can read that. */
const FAREWELL = 1_000;
/** Refused clients that are told so at a time; beyond them connections are closed without a word, for those cost us too. */
const MOST_TOLD = 256;
/** Milliseconds between two searches for idle connections to close. */
const SEARCH_EVERY = 1_000;

/**
 * Bounds the connections to a server, in all and for one client address, whether or not they ask anything: each takes
 * memory and a descriptor. Where all are taken, those that only wait for a next request make room first. In: a server
 * before anything else listens to its connections, so that nothing is read of those that are refused.
 */
export function capConnections(server: Server, caps: ConnectionCaps): void {
  const { maxConnections, maxConnectionsPerAddress } = caps;
  const isProxy = trustedProxies(caps.trustedProxies);
  const perNetwork = new Map<string, number>();
  let open = 0;
  let told = 0;
  let searched = Number.NEGATIVE_INFINITY;

  const refuse = (socket: Socket): void => {
    if (told >= MOST_TOLD) {
      socket.destroy();
      return;
    }
    told += 1;
    const end = setTimeout(() => socket.destroy(), FAREWELL);
    socket
      .on('error', () => undefined)
      .once('close', () => {
        clearTimeout(end);
        told -= 1;
      });
    // What it asked is read, or the kernel would reset the connection and with it what we say.
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
    const ofNetwork = network === undefined ? 0 : (perNetwork.get(network) ?? 0);
    if (ofNetwork >= maxConnectionsPerAddress) return refuse(socket);
    if (open >= maxConnections) {
      makeRoom();
      return refuse(socket);
    }
    open += 1;
    if (network !== undefined) perNetwork.set(network, ofNetwork + 1);
    socket.once('close', () => {
      open -= 1;
      if (network === undefined) return;
      const left = (perNetwork.get(network) ?? 1) - 1;
      if (left === 0) perNetwork.delete(network);
      else perNetwork.set(network, left);
    });
    for (const listener of accept) listener.call(server, socket);
  });
}
