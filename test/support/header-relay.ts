import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HeaderRelay {
  /** The URL of its listener, to use instead of the origin behind it. */
  readonly origin: string;
  close(): Promise<void>;
}

/**
 * Forwards everything to `origin` with additional header fields, for programs that cannot send any themselves (usually
 * a token). A Host that names the relay is replaced by the origin's; any other Host is kept.
 */
export async function startHeaderRelay(origin: string, fields: Readonly<Record<string, string>>): Promise<HeaderRelay> {
  const { host, hostname, port } = new URL(origin);
  const server = createServer((incoming, response) => {
    const asked = incoming.headers.host === own() ? host : incoming.headers.host;
    const outgoing = request(
      {
        hostname,
        port,
        path: incoming.url,
        method: incoming.method,
        headers: { ...incoming.headers, ...fields, host: asked },
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on('error', () => response.destroy());
    response.once('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  const own = () => `localhost:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  return {
    origin: `http://${own()}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
