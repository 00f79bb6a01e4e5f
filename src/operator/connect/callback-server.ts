import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { CALLBACK_POLICY, type CallbackPage, callbackPage } from './callback-page.ts';
import { listen, shut } from './listen.ts';

export type CallbackServer = Awaited<ReturnType<typeof listenForCallback>>;

/**
 * Listens on a free port of 127.0.0.1 for the authorization response of a native app (RFC 8252 section 7.3). Rejects
 * with Node's error on failure.
 * @param site - the name of the site, for the pages
 */
export async function listenForCallback(site: string) {
  let waiting: { state: string; accept: (response: URLSearchParams) => void } | undefined;
  let host = '';

  const send = (response: ServerResponse, status: number, kind: CallbackPage, written?: () => void): void =>
    answer(response, status, callbackPage(kind, site), written);

  const server = createServer((request, response) => {
    const query = callbackQuery(request, host);
    if (query === undefined) return send(response, 404, 'nothing');
    const states = query.getAll('state');
    if (waiting === undefined || states.length !== 1 || !equal(states[0] ?? '', waiting.state)) {
      return send(response, 400, 'stranger');
    }
    const { accept } = waiting;
    waiting = undefined;
    send(response, 200, outcomeOf(query), () => accept(query));
  });
  host = `127.0.0.1:${await listen(server, 0, '127.0.0.1')}`;

  return {
    redirectUri: `http://${host}/callback`,
    /**
     * Waits for the response with this `state`, and refuses all other requests. Rejects with the signal's reason when
     * aborted.
     */
    async receive(state: string, signal: AbortSignal): Promise<URLSearchParams> {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      waiting = { state, accept: resolve };
      return promise;
    },
    close: () => shut(server),
  };
}

/**
 * The query of a callback request; undefined for other paths and methods, and for foreign Host names (DNS rebinding).
 */
function callbackQuery(request: IncomingMessage, host: string): URLSearchParams | undefined {
  if (request.method !== 'GET' || request.headers.host !== host) return undefined;
  const url = URL.parse(request.url ?? '', `http://${host}`);
  return url?.pathname === '/callback' ? url.searchParams : undefined;
}

function outcomeOf(query: URLSearchParams): CallbackPage {
  const error = query.get('error');
  if (error === null) return 'received';
  return error === 'access_denied' ? 'denied' : 'failed';
}

/** Compares in constant time. */
function equal(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest());
  return a !== undefined && b !== undefined && timingSafeEqual(a, b);
}

function answer(response: ServerResponse, status: number, page: string, written?: () => void): void {
  // Not 'finish': 'close' is also emitted when the browser disconnects early, and the code has arrived even then.
  if (written !== undefined) response.once('close', written);
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-length': Buffer.byteLength(page),
    'cache-control': 'no-store',
    'content-security-policy': CALLBACK_POLICY,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    connection: 'close',
  });
  response.end(page);
}
