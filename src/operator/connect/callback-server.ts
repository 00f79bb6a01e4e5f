import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { PAGE_HEADERS } from '../../http/html.ts';
import { listen, shut } from '../../http/listen.ts';
import { isSameSecret } from '../../http/same-secret.ts';
import { CALLBACK_POLICY, type CallbackPage, callbackPage } from './callback-page.ts';

/** The authorization request whose response is waited for. */
interface Expected {
  readonly state: string;
  readonly url: string;
}

export type CallbackServer = Awaited<ReturnType<typeof listenForCallback>>;

/**
 * Listens on a free port of 127.0.0.1 for the authorization response of a native app (RFC 8252 section 7.3). Rejects
 * with Node's error on failure.
 * @param site - the name of the site, for the pages
 */
export async function listenForCallback(site: string) {
  let waiting: (Expected & { accept: (response: URLSearchParams) => void }) | undefined;
  let host = '';

  const send = (response: ServerResponse, status: number, kind: CallbackPage, written?: () => void): void => {
    const page = callbackPage(kind, site);
    // Not 'finish': 'close' is also emitted when the browser disconnects early, and the code has arrived even then.
    if (written !== undefined) response.once('close', written);
    response.writeHead(status, {
      ...PAGE_HEADERS,
      'content-length': Buffer.byteLength(page),
      'content-security-policy': CALLBACK_POLICY,
      connection: 'close',
    });
    response.end(page);
  };

  const server = createServer((request, response) => {
    const url = requested(request, host);
    if (url?.pathname === '/' && waiting !== undefined) return redirect(response, waiting.url);
    if (url?.pathname !== '/callback') return send(response, 404, 'nothing');
    const query = url.searchParams;
    const states = query.getAll('state');
    if (waiting === undefined || states.length !== 1 || !isSameSecret(states[0] ?? '', waiting.state))
      return send(response, 400, 'stranger');
    const { accept } = waiting;
    waiting = undefined;
    send(response, 200, outcomeOf(query), () => accept(query));
  });
  host = `127.0.0.1:${await listen(server, { port: 0, host: '127.0.0.1' })}`;

  return {
    redirectUri: `http://${host}/callback`,
    /** A short address that leads to the authorization request for as long as its response is waited for. */
    start: `http://${host}/`,
    /**
     * Waits for the response to this request, and refuses all other requests. Rejects with the signal's reason when
     * aborted.
     */
    async receive({ state, url }: Expected, signal: AbortSignal): Promise<URLSearchParams> {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<URLSearchParams>();
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      waiting = { state, url, accept: resolve };
      return promise;
    },
    close: () => shut(server),
  };
}

/** What is requested by GET; undefined for other methods, and for foreign Host names (DNS rebinding). */
function requested(request: IncomingMessage, host: string): URL | undefined {
  if (request.method !== 'GET' || request.headers.host !== host) return undefined;
  return URL.parse(request.url ?? '', `http://${host}`) ?? undefined;
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(302, {
    location,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end();
}

function outcomeOf(query: URLSearchParams): CallbackPage {
  const error = query.get('error');
  if (error === null) return 'received';
  return error === 'access_denied' ? 'denied' : 'failed';
}
