import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A backend that echoes the member and the request, once or, as an event stream, every second. */
export interface EchoUpstream {
  readonly url: string;
  close(): Promise<void>;
}

const TICK = 1_000;

export async function startEchoUpstream(): Promise<EchoUpstream> {
  const streams = new Map<ServerResponse, string>();
  const server = createServer(async (request, response) => {
    const member = request.headers['x-member-id'] ?? 'nobody';
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length;
      hash.update(chunk as Buffer);
    }
    const said = { member, target: request.url, authorization: request.headers.authorization };
    if (isStream(request)) return hold(response, JSON.stringify(said));
    const body = JSON.stringify({ ...said, bytes, hash: hash.digest('hex') });
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  server.on('clientError', (_error, socket) => socket.destroy());

  const hold = (response: ServerResponse, said: string): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(`data: ${said}\n\n`);
    streams.set(response, said);
    response.once('close', () => streams.delete(response));
    response.on('error', () => undefined);
  };
  const ticking = setInterval(() => {
    for (const [response, said] of streams) response.write(`data: ${said}\n\n`);
  }, TICK);

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        clearInterval(ticking);
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isStream(request: IncomingMessage): boolean {
  return request.url?.startsWith('/events/') === true;
}
