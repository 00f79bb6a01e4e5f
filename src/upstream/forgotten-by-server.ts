import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';

/**
 * http-proxy-middleware listens, after its first request, for the end of the server that the request came to, in order to
 * close what it does not have here. The server lives longer than a site does, and would hold on to each. Out: a wrapper
 * for the work on a request that takes that listener off again.
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

/** Who waits for its end, but those who are waiting for it to come, such as a drain that has begun. */
function lasting(server: Server): (() => void)[] {
  return (server.rawListeners('close') as (() => void)[]).filter((listener) => !('listener' in listener));
}
