import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { unescape as formDecoded } from 'node:querystring';

/** The endpoints at which clients authenticate, and what the matrix calls a request there. */
const REQUESTS = new Map([
  ['/api/oauth/par', 'pushed request'],
  ['/api/oauth/token', 'token'],
  ['/api/oauth/revoke', 'revocation'],
]);

/** What it calls a token request with one of these grants. */
const GRANTS = new Map([
  ['authorization_code', 'code'],
  ['refresh_token', 'refresh'],
]);

/** One request of a client, as the gate received it. */
interface Authentication {
  readonly clientId: string | null;
  /** The authorization code that it redeems; null in any other request. */
  readonly code: string | null;
  readonly request: string;
  readonly type: 'public' | 'secret in the body' | 'secret with HTTP Basic';
}

/** Reads how clients authenticate at a gate of this process, from the requests that it receives. */
export class ClientAuthentications {
  readonly #port: number;
  readonly #seen: Authentication[] = [];

  /** @param origin - the gate's */
  constructor(origin: string) {
    this.#port = Number(new URL(origin).port);
    subscribe('http.server.request.start', this.#listen);
  }

  /** How the client that redeemed `code` authenticated. Names the requests if it did so in more than one way. */
  typeOf(code: string): string | undefined {
    const clientId = this.#seen.find((one) => one.code === code)?.clientId;
    if (clientId === undefined) return undefined;
    const mine = this.#seen.filter((one) => one.clientId === clientId);
    const types = [...Map.groupBy(mine, ({ type }) => type)];
    if (types.length === 1) return types[0]?.[0];
    return types
      .map(([type, ones]) => `${type} (${[...new Set(ones.map(({ request }) => request))].join(', ')})`)
      .join(', ');
  }

  [Symbol.dispose](): void {
    unsubscribe('http.server.request.start', this.#listen);
  }

  readonly #listen = (message: unknown): void => {
    const { request } = message as { readonly request: IncomingMessage };
    const { url = '', method, socket } = request;
    if (socket.localPort !== this.#port || method !== 'POST' || !REQUESTS.has(url)) return;
    const chunks: Buffer[] = [];
    const push = request.push.bind(request);
    // A listener for `data` would take the body from the gate.
    request.push = (chunk: Buffer | null) => {
      if (chunk === null) this.#seen.push(read(request, new URLSearchParams(Buffer.concat(chunks).toString())));
      else chunks.push(chunk);
      return push(chunk);
    };
  };
}

function read({ url = '', headers }: IncomingMessage, body: URLSearchParams): Authentication {
  const [, encoded = ''] = /^basic (.*)$/i.exec(headers.authorization ?? '') ?? [];
  const [clientId = '', secret = ''] = Buffer.from(encoded, 'base64')
    .toString()
    .split(':')
    .map((part) => formDecoded(part));
  return {
    clientId: clientId || body.get('client_id'),
    code: body.get('code'),
    request: GRANTS.get(body.get('grant_type') ?? '') ?? REQUESTS.get(url) ?? url,
    type: secret ? 'secret with HTTP Basic' : body.get('client_secret') ? 'secret in the body' : 'public',
  };
}
