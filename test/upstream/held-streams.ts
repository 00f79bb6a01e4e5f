import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

/** The clients without a first event at any time: no more than a listening socket keeps waiting on any machine. */
const AT_ONCE = 100;

/**
 * Runs as a separate process, so that each process needs fewer file descriptors. It has an upstream that answers
 * /api/stream with an event stream that stays open, and everything else with `ok`. For each line `PORT COUNT` it starts
 * that many clients, which read such a stream through a gate. It prints `upstream PORT`, and `open COUNT` once every
 * client has its first event. A connection that fails before is begun again, up to COUNT times in all; anything else that
 * goes wrong is printed as `failed REASON`.
 */
const upstream = createServer((request, response) => {
  if (!request.url?.endsWith('/stream')) return void response.end('ok');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(': hello\n\n');
});
upstream.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  console.log(`upstream ${(upstream.address() as AddressInfo).port}`),
);
createInterface({ input: process.stdin }).on('line', (line) => {
  const [port = 0, count = 0] = line.split(' ').map(Number);
  const options = { port, path: '/api/stream', agent: false, headers: { accept: 'text/event-stream' } };
  let [begun, open, failures] = [0, 0, 0];
  const failed = (reason: unknown) => open < count && console.log(`failed ${String(reason)}`);
  const begin = () => {
    let hasEvent = false;
    const request = get(options, (answer) => {
      if (answer.statusCode !== 200) failed(answer.statusCode);
      answer.once('data', () => {
        hasEvent = true;
        open += 1;
        if (open === count) console.log(`open ${open}`);
        next();
      });
      answer.on('error', failed);
    });
    request.on('error', (error) => {
      failures += 1;
      if (hasEvent || failures > count) return failed(error);
      setTimeout(begin, 50);
    });
  };
  const next = () => {
    if (begun === count) return;
    begun += 1;
    begin();
  };
  for (let n = 0; n < AT_ONCE; n += 1) next();
});
