import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Runs as a separate process, so that each process needs fewer file descriptors. It has an upstream that answers
 * /api/stream with an event stream that stays open, and everything else with `ok`. For each line `PORT COUNT` it starts
 * that many clients, which read such a stream through a gate. It prints `upstream PORT`, and `open COUNT` once every
 * client has its first event.
 */
const upstream = createServer((request, response) => {
  if (!request.url?.endsWith('/stream')) return void response.end('ok');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': hello\n\n');
});
upstream.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  console.log(`upstream ${(upstream.address() as AddressInfo).port}`),
);
createInterface({ input: process.stdin }).on('line', async (line) => {
  const [port = 0, count = 0] = line.split(' ').map(Number);
  let open = 0;
  for (let begun = 0; begun < count; begun += 1) {
    const options = { port, path: '/api/stream', agent: false, headers: { accept: 'text/event-stream' } };
    get(options, (answer) => {
      answer.once('data', () => {
        open += 1;
        if (open === count) console.log(`open ${open}`);
      });
    }).on('error', () => undefined);
    // No more at once than the backlog of a listening socket.
    if (begun % 100 === 99) await new Promise((resolve) => setTimeout(resolve, 20));
  }
});
