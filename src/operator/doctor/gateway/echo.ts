import { createServer, type IncomingMessage } from 'node:http';
import { boundedJson, DOCUMENT_BOUNDS } from '../../../http/bounded-json.ts';
import { listen, shut } from '../../../http/listen.ts';

/** A header field, spelled as it was sent. */
export type Field = readonly [name: string, value: string];

/** A request as the backend received it. */
export interface Echo {
  readonly method: string;
  /** The request target, one character for each byte. */
  readonly target: string;
  /** In the order received, repeated fields included. */
  readonly headers: readonly Field[];
}

export type EchoServer = Awaited<ReturnType<typeof startEchoServer>>;

/** Requests that are remembered. One attack looks at its own last few. */
const REMEMBERED = 1000;
const LONGEST_HEADER = 128 * 1024;

/**
 * Starts a backend that answers every request with what it received, as JSON. It parses leniently on purpose: what a
 * gateway passes on must show, even if a strict server would refuse it. Rejects if the address is in use.
 */
export async function startEchoServer(host: string, port: number) {
  const remembered: Echo[] = [];
  const server = createServer(
    { insecureHTTPParser: true, requireHostHeader: false, maxHeaderSize: LONGEST_HEADER },
    (request, response) => {
      const echo = echoOf(request);
      remembered.push(echo);
      if (remembered.length > REMEMBERED) remembered.shift();
      request.on('error', () => undefined).resume();
      response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(JSON.stringify(echo));
    },
  );
  return {
    port: await listen(server, { port, host }),
    /** The requests received so far whose target contains `text`. */
    received: (text: string): readonly Echo[] => remembered.filter(({ target }) => target.includes(text)),
    close: () => shut(server),
  };
}

function echoOf({ method = '', url = '', rawHeaders }: IncomingMessage): Echo {
  const headers = rawHeaders.flatMap((name, at): Field[] => (at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : []));
  return { method, target: url, headers };
}

/** The echo in the body of a response; undefined if the body is something else. */
export function parseEcho(body: string): Echo | undefined {
  const { method, target, headers } = Object(boundedJson(body, DOCUMENT_BOUNDS)) as Partial<
    Record<keyof Echo, unknown>
  >;
  if (typeof method !== 'string' || typeof target !== 'string' || !Array.isArray(headers)) return undefined;
  return headers.every(isField) ? { method, target, headers } : undefined;
}

function isField(value: unknown): value is Field {
  return Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === 'string');
}

/** The form in which names are compared: many servers read `X_Member_Id` and `X.Member.Id` as `X-Member-Id`. */
export function folded(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '-');
}

/** The values of a field in any spelling of its name. */
export function valuesOf({ headers }: Echo, name: string): readonly string[] {
  return headers.filter(([one]) => folded(one) === folded(name)).map(([, value]) => value);
}

/** Whether a field reached the backend with a value that it does not have without the attack. */
export function arrived(echoes: readonly Echo[], usual: Echo, name: string, value: string): boolean {
  const parts = (echo: Echo) => valuesOf(echo, name).flatMap((one) => one.split(',').map((part) => part.trim()));
  return !parts(usual).includes(value) && echoes.some((echo) => parts(echo).includes(value));
}
