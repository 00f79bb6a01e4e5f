import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** A request on its way to the gate. A fault may change it before it is forwarded. */
export interface Passing {
  method: string;
  url: URL;
  readonly headers: IncomingHttpHeaders;
  body: string;
}

export interface Answered {
  status: number;
  headers: OutgoingHttpHeaders;
  body: string;
}

/**
 * What to break: `toGate` may change the request, or return a response that is sent instead of the gate's; `fromGate`
 * may change the response.
 */
export interface Fault {
  readonly toGate?: (passing: Passing) => Answered | undefined;
  readonly fromGate?: (answered: Answered, passing: Passing) => void;
}

export interface FaultProxy {
  readonly origin: string;
  /** The URL of the gate. */
  target: string;
  fault: Fault;
  close(): Promise<void>;
}

/** A reverse proxy in front of a real gate that breaks requests and responses as configured. */
export async function startFaultProxy(): Promise<FaultProxy> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => response.destroy());
    request.on('end', () => {
      const url = new URL(request.url ?? '/', proxy.origin);
      const passing: Passing = {
        method: request.method ?? 'GET',
        url,
        headers: { ...request.headers },
        body: Buffer.concat(chunks).toString(),
      };
      const asked = { ...passing, url: new URL(url) };
      const instead = proxy.fault.toGate?.(passing);
      Promise.resolve(instead ?? forward(proxy.target, passing))
        .then((answered) => {
          proxy.fault.fromGate?.(answered, asked);
          delete answered.headers['transfer-encoding'];
          const length = { 'content-length': Buffer.byteLength(answered.body) };
          response.writeHead(
            answered.status,
            answered.status === 204 ? answered.headers : { ...answered.headers, ...length },
          );
          response.end(answered.body);
        })
        .catch(() => response.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: FaultProxy = {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    target: '',
    fault: {},
    close: () => closed(server, () => server.closeAllConnections()),
  };
  return proxy;
}

function forward(target: string, { method, url, headers, body }: Passing): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const { 'content-length': _length, 'transfer-encoding': _coding, ...fields } = headers;
    const length = method === 'GET' || method === 'HEAD' ? {} : { 'content-length': Buffer.byteLength(body) };
    const request = send(target + url.pathname + url.search, {
      method,
      headers: { ...fields, ...length },
      agent: false,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { connection: _connection, 'keep-alive': _alive, ...kept } = response.headers;
        resolve({ status: response.statusCode ?? 0, headers: kept, body: Buffer.concat(chunks).toString() });
      });
    });
    request.end(method === 'GET' || method === 'HEAD' ? undefined : body);
  });
}

function closed(server: Server, cut: () => void): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    cut();
  });
}
