import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';

/**
 * After its first request, http-proxy-middleware adds a listener for the 'close' event of the HTTP server, in order to
 * close things that are not used here. The server outlives a site, so the listener would keep every replaced site in
 * memory. Returns a wrapper for handling a request that removes that listener again.
 */
export function forgottenByServer(): (request: IncomingMessage, work: () => Promise<void>) => Promise<void> {
  const done = new WeakSet<Server>();

  return async (request, work) => {
    const { server } = request.socket as Socket & { readonly server?: Server };
    if (server === undefined || done.has(server)) return work();
    const before = new Set(lasting(server));
    try {
      await work();
    } finally {
      for (const listener of lasting(server)) {
        if (before.has(listener)) continue;
        server.off('close', listener);
        done.add(server);
      }
    }
  };
}

/** The persistent 'close' listeners: without those added by `once`, such as the one of a drain in progress. */
function lasting(server: Server): (() => void)[] {
  return (server.rawListeners('close') as (() => void)[]).filter((listener) => !('listener' in listener));
}
