import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callbackPage } from './callback-page.ts';

/** The loopback listener a native app receives its authorization response on (RFC 8252 §7.3). */
export interface CallbackServer {
  readonly redirectUri: string;
  /**
   * Waits for the response that carries `state`; whatever else arrives is refused and the wait goes on.
   * Rejects with the signal's reason when it fires.
   */
  receive(state: string, signal: AbortSignal): Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** Listens on a port of 127.0.0.1 that the system chooses. Rejects with Node's error when it cannot. */
export async function listenForCallback(): Promise<CallbackServer> {
  let waiting: { state: string; accept: (response: URLSearchParams) => void } | undefined;
  let host = '';

  const server = createServer((request, response) => {
    const query = callbackQuery(request, host);
    if (query === undefined) return answer(response, 404, '');
    const states = query.getAll('state');
    if (waiting === undefined || states.length !== 1 || !equal(states[0] ?? '', waiting.state)) {
      return answer(response, 400, callbackPage('stranger'));
    }
    const { accept } = waiting;
    waiting = undefined;
    answer(response, 200, callbackPage(query.has('error') ? 'denied' : 'received'), () => accept(query));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    redirectUri: `http://${host}/callback`,
    receive(state, signal) {
      return new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const stop = () => reject(signal.reason);
        signal.addEventListener('abort', stop, { once: true });
        waiting = {
          state,
          accept(response) {
            signal.removeEventListener('abort', stop);
            resolve(response);
          },
        };
      });
    },
    close() {
      waiting = undefined;
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** The query of a request for our callback; undefined for favicons, strangers, and names rebound to this machine. */
function callbackQuery(request: IncomingMessage, host: string): URLSearchParams | undefined {
  if (request.method !== 'GET' || request.headers.host !== host) return undefined;
  const url = URL.parse(request.url ?? '', `http://${host}`);
  return url?.pathname === '/callback' ? url.searchParams : undefined;
}

/** Compares without telling, by the time it takes, how much of a guess was right. */
function equal(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

function answer(response: ServerResponse, status: number, page: string, written?: () => void): void {
  // 'close' comes also when the browser hung up before the end: the code has arrived all the same.
  if (written !== undefined) response.once('close', written);
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(page),
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(page);
}
