import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, ListenOptions, Server } from 'node:net';

/** Listens on a port and resolves to it. Port 0 means any free one. Rejects with Node's own error. */
export async function listen(server: Server, options: ListenOptions): Promise<number> {
  await once(server.listen(options), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Closes a server and its connections. Also resolves if it never listened. */
export function shut(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
