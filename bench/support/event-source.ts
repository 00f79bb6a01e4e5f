import { createServer, type ServerResponse } from 'node:http';

/**
 * An upstream of event streams, in a separate process. GET of a path that contains `/events/` or `/stream` opens a stream, which
 * gets one event and is idle from then on. `POST /tick?of=NAME&spread=MS` sends an event to each open stream whose URL has the
 * same `of`, evenly over that time, and responds with their number when all are sent. Anything else is a plain response.
 */
const STEP = 5;
const open = new Map<string, Set<ServerResponse>>();

createServer(async (request, response) => {
  const url = new URL(request.url ?? '/', 'http://source.invalid');
  const of = url.searchParams.get('of') ?? '';
  const streams = open.get(of) ?? new Set();
  open.set(of, streams);
  if (url.pathname === '/tick') {
    const ticked = [...streams];
    await tick(ticked, Number(url.searchParams.get('spread') ?? 0));
    return void response.end(String(ticked.length));
  }
  if (!/\/events\/|\/stream/.test(url.pathname)) return void response.end('ok');
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.write('data: hello\n\n');
  streams.add(response);
  response.on('error', () => undefined);
  response.once('close', () => streams.delete(response));
}).listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 8192 });

async function tick(streams: readonly ServerResponse[], spread: number): Promise<void> {
  const started = performance.now();
  for (let sent = 0; sent < streams.length; ) {
    const share = spread === 0 ? 1 : Math.min(1, (performance.now() - started) / spread);
    for (; sent < share * streams.length; sent += 1) streams[sent]?.write('data: tick\n\n');
    if (sent < streams.length) await new Promise((resolve) => setTimeout(resolve, STEP));
  }
}
