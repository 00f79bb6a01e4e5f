import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * An upstream of event streams, in a separate process. On `tick`, it sends each stream an event with the number of the tick.
 * It reports its port and, after each tick, the number of streams that it was sent to.
 */
export type SourceSays = { readonly port: number } | { readonly ticked: number };

const open = new Set<ServerResponse>();
let ticks = 0;
const server = createServer((request, response) => {
  if (!request.url?.startsWith('/events/')) return void response.end('ok');
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('data: hello\n\n');
  open.add(response);
  response.on('error', () => undefined);
  response.once('close', () => open.delete(response));
});
const say = (what: SourceSays) => process.send?.(what);
process.on('message', () => {
  ticks += 1;
  for (const response of open) response.write(`data: tick ${ticks}\n\n`);
  say({ ticked: open.size });
});
// It ends with the process that started it.
process.once('disconnect', () => process.exit(0));
server.listen({ port: 0, host: '127.0.0.1', backlog: 8192 }, () =>
  say({ port: (server.address() as AddressInfo).port }),
);
