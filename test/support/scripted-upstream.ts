import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type StrictRequest, strictRequests } from './strict-http.ts';

/** An upstream that parses requests strictly and responds with bytes. */
export interface ScriptedUpstream {
  readonly url: string;
  readonly port: number;
  /**
   * Returns the requests received since the last call. Throws when the bytes on a connection are not a sequence of
   * requests.
   */
  take(): StrictRequest[];
  /** Replaces the request handler from now on. */
  script(answer: (request: StrictRequest, socket: Socket) => void): void;
  /** Closes all current connections. */
  hangUp(): void;
  close(): Promise<void>;
}

/** @param ofGateway see `strictRequests` */
export async function startScriptedUpstream(ofGateway = false): Promise<ScriptedUpstream> {
  let answer = (_request: StrictRequest, socket: Socket): void => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  };
  const taken: StrictRequest[] = [];
  const failures: Error[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    let rest = '';
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1');
      try {
        const { requests, left } = strictRequests(rest, ofGateway);
        rest = left;
        for (const request of requests) {
          taken.push(request);
          answer(request, socket);
        }
      } catch (error) {
        failures.push(error as Error);
        socket.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    take() {
      const [failure] = failures.splice(0);
      if (failure !== undefined) throw failure;
      return taken.splice(0);
    },
    script(next) {
      answer = next;
    },
    hangUp,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        hangUp();
      }),
  };
}
