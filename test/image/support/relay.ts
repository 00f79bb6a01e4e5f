/**
 * `node relay.ts SOCKET ADDRESS PORT`: forwards connections to a Unix socket to an address, which only the network namespace
 * that it runs in may reach. Prints a line once it listens.
 */
import { createConnection, createServer, type Socket } from 'node:net';

/** Forwards in both directions until one side ends. */
export function relay(incoming: Socket, outgoing: Socket): void {
  for (const [from, to] of [
    [incoming, outgoing],
    [outgoing, incoming],
  ] as const) {
    from.on('error', () => to.destroy());
    from.pipe(to);
  }
}

if (import.meta.main) {
  const [socket = '', address = '', port = ''] = process.argv.slice(2);
  createServer((incoming) => relay(incoming, createConnection(Number(port), address))).listen(socket, () =>
    console.log('listening'),
  );
}
