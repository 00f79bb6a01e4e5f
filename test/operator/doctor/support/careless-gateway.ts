import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TOKEN } from './auth-service.ts';

/** Fields that are passed on as they are, so that framing is the only fault. */
const PASSED = /^(?:host|connection|content-length|transfer-encoding[ \t]*|x-doctor):/i;

const refusal = (status: string, challenge: string) =>
  `HTTP/1.1 ${status}\r\nWWW-Authenticate: Bearer ${challenge}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;

export interface CarelessGateway {
  readonly port: number;
  /** The targets that were requested first on a connection, as they were written. */
  readonly targets: ReadonlySet<string>;
  close(): Promise<void>;
}

/** A gateway as people write them: it judges the first request of a connection, and then connects both sides. */
export async function startCarelessGateway(echo: string): Promise<CarelessGateway> {
  const sockets = new Set<Socket>();
  const targets = new Set<string>();
  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => client.destroy()).on('close', () => sockets.delete(client));
    let received = '';
    const read = (bytes: Buffer) => {
      received += bytes.toString('latin1');
      const end = received.indexOf('\r\n\r\n');
      if (end === -1) return;
      client.off('data', read);
      targets.add(received.slice(received.indexOf(' ') + 1, received.indexOf(' HTTP/')));
      const judged = judge(received.slice(0, end));
      if (judged.refused !== undefined) return void client.end(judged.refused);
      const backend = connect(Number(echo.split(':')[1]), '127.0.0.1');
      backend.on('error', () => client.destroy());
      backend.write(judged.head + received.slice(end), 'latin1');
      client.pipe(backend).pipe(client);
    };
    client.on('data', read);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    targets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function judge(head: string): { readonly refused?: string; readonly head: string } {
  const [start = '', ...lines] = head.split('\r\n');
  const [, target = ''] = start.split(' ');
  if (!/^(?:\/[\w-]+)*\/?(?:\?[!-~]*)?$/.test(target)) return { refused: refusal('400 Bad Request', ''), head };
  const isProtected = /^\/(?:echo|staff)/.test(target);
  const tokens = lines.filter((line) => /^authorization:/i.test(line));
  if (isProtected && (tokens.length !== 1 || !tokens[0]?.endsWith(` Bearer ${TOKEN}`)))
    return { refused: refusal('401 Unauthorized', 'realm="school"'), head };
  if (target.startsWith('/staff')) return { refused: refusal('403 Forbidden', 'error="insufficient_scope"'), head };
  // A folded line belongs to the one before it.
  const passed = lines.filter(
    (line, at) => PASSED.test(line) || (/^[ \t]/.test(line) && PASSED.test(lines[at - 1] ?? '')),
  );
  return { head: [start, ...passed, ...(isProtected ? ['X-Member-Id: m-1'] : [])].join('\r\n') };
}
