import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DocumentNetwork } from '../../../../src/authorization-server/client-documents/network.ts';
import { isPublicAddress } from '../../../../src/http/public-address.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A TLS server that stands in for every host on the internet, and the name resolution that leads to it. */
export interface DocumentHost {
  readonly network: DocumentNetwork;
  /** What a name resolves to. Names that are not listed resolve to this server. */
  readonly names: Map<string, () => readonly string[]>;
  /** The names resolved, in order. */
  readonly resolved: string[];
  /** The URLs requested, in order. */
  readonly requests: { readonly url: string; readonly headers: IncomingMessage['headers'] }[];
  /** The number of TCP connections so far. */
  connections(): number;
  serve(url: string, answer: Answer): void;
  /** Sets the response to every URL that is not served; 404 by default. */
  otherwise(answer: Answer): void;
  close(): Promise<void>;
}

/** The only address that a test admits in addition to public ones. */
export const HERE = '127.0.0.1';

const HOSTS = [
  'claude.ai',
  'chatgpt.com',
  'vscode.dev',
  'zed.dev',
  ...['apps', 'one', 'two', 'three', 'four', 'five', 'six'].flatMap((name) => [`${name}.example`, `*.${name}.example`]),
];

export async function startDocumentHost(): Promise<DocumentHost> {
  const { key, cert } = certificate();
  const names = new Map<string, () => readonly string[]>();
  const served = new Map<string, Answer>();
  const resolved: string[] = [];
  const requests: { url: string; headers: IncomingMessage['headers'] }[] = [];
  let rest: Answer = (_request, response) => response.writeHead(404).end();
  let connections = 0;
  const server = createServer({ key, cert }, (request, response) => {
    response.on('error', () => undefined);
    const url = `https://${request.headers.host}${request.url}`;
    requests.push({ url, headers: request.headers });
    (served.get(url) ?? rest)(request, response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.on('tlsClientError', () => undefined);
  // Listens on all addresses of 127/8, so that a connection to any of them is noticed.
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return {
    network: {
      async resolve(host) {
        resolved.push(host);
        return (names.get(host) ?? (() => [HERE]))();
      },
      permits: (address) => address === HERE || isPublicAddress(address),
      port: (server.address() as AddressInfo).port,
      trusted: cert,
    },
    names,
    resolved,
    requests,
    connections: () => connections,
    serve: (url, answer) => void served.set(url, answer),
    otherwise: (answer) => {
      rest = answer;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function answerJson(body: unknown, headers: Record<string, string> = {}): Answer {
  return (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** A minimal document: what most apps publish, with as few members as possible. */
export function plainDocument(url: string, members: Record<string, unknown> = {}): Record<string, unknown> {
  return { client_id: url, client_name: 'An App', redirect_uris: [`${new URL(url).origin}/callback`], ...members };
}

/** Node generates keys, but not certificates. */
const OPENSSL = 'openssl';

let made: { key: string; cert: string } | undefined;

function certificate(): { key: string; cert: string } {
  if (made !== undefined) return made;
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-certificate-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const names = HOSTS.map((host) => `DNS:${host}`).join(',');
    execFileSync(
      OPENSSL,
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
        ...['-subj', '/CN=document host', '-addext', `subjectAltName=${names}`, '-keyout', key, '-out', cert],
      ],
      { stdio: 'ignore' },
    );
    made = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
    return made;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
