// What V8's garbage collector does in a gate under a steady load, read from --trace-gc-nvp. `node
// bench/process/collections.ts` prints it; test/process/collections.test.ts holds it to a bound.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gateProcess } from '../../test/faults/gate-process.ts';
import { registerApp } from '../../test/support/app.ts';
import { createBrowser } from '../../test/support/browser.ts';
import { connect as connectApp } from '../../test/support/connection.ts';

export interface Collections {
  readonly scavenges: number;
  /** Bytes that a request allocated, and that survived long enough to be moved to the old generation. */
  readonly allocated: number;
  readonly promoted: number;
  /** The longest and the median pause of a scavenge, in milliseconds. */
  readonly longest: number;
  readonly median: number;
}

const CONNECTIONS = 48;
const TOKENS = 8;
/** NODE_OPTIONS does not take V8's flags. */
const TRACING = `--import=data:text/javascript,${encodeURIComponent("import{setFlagsFromString}from'node:v8';setFlagsFromString('--trace-gc-nvp')")}`;

/** Sends `requests` authenticated GETs through a gate process to a real upstream, after a tenth as many to warm up. */
export async function collectionsUnder(requests: number): Promise<Collections> {
  const body = JSON.stringify({ data: 'y'.repeat(1013) });
  const upstream = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const gate = await gateProcess({
    environment: {
      NODE_OPTIONS: TRACING,
      // It would be on standard output too, between the lines that are read here.
      COURSEGATE__LOG__ACCESS: 'false',
      COURSEGATE__UPSTREAMS__PROBE: `{ url: "http://127.0.0.1:${(upstream.address() as AddressInfo).port}" }`,
      COURSEGATE__ROUTES: `[
        { match: "GET /api/v1/whoami", upstream: school, scopes: [] },
        { match: "GET /probe", upstream: probe, scopes: [courses:read] } ]`,
    },
  });
  try {
    const started = performance.now();
    await gate.start();
    const app = await registerApp(gate.origin);
    const browser = createBrowser();
    const tokens: string[] = [];
    while (tokens.length < TOKENS) tokens.push((await connectApp(app, { browser })).access_token);
    const port = Number(new URL(gate.listens).port);
    await send(port, tokens, requests / 10);
    const from = performance.now() - started;
    await send(port, tokens, requests);
    const until = performance.now() - started;
    // The lines are buffered until the process ends.
    gate.signal('SIGTERM');
    await gate.exited();
    return read(gate.output(), { from, until, requests });
  } finally {
    await gate.close();
    upstream.close();
    upstream.closeAllConnections();
  }
}

/** Sends GETs on keep-alive connections, each the next one when its response is complete. */
async function send(port: number, tokens: readonly string[], requests: number): Promise<void> {
  let left = requests;
  const one = async (at: number): Promise<void> => {
    const token = tokens[at % tokens.length];
    const head = `GET /probe HTTP/1.1\r\nHost: localhost:${port}\r\nAccept: application/json\r\nUser-Agent: assistant/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    await new Promise<void>((resolve, reject) => {
      let received = '';
      const next = () => {
        left -= 1;
        if (left < 0) socket.end(resolve);
        else socket.write(head);
      };
      socket.on('error', reject).on('data', (chunk) => {
        received += chunk.toString('latin1');
        const end = received.indexOf('\r\n\r\n');
        const length = /content-length: (\d+)/i.exec(received)?.[1];
        if (end === -1 || received.length < end + 4 + Number(length)) return;
        if (!received.startsWith('HTTP/1.1 200')) reject(new Error(received));
        received = '';
        next();
      });
      next();
    });
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, at) => one(at)));
}

/**
 * Adds up the lines of --trace-gc-nvp about scavenges (`gc=s`). Each begins with the milliseconds since the process
 * started; `from` and `until` are counted from shortly before.
 */
function read(
  output: string,
  { from, until, requests }: { from: number; until: number; requests: number },
): Collections {
  const lines = output.split('\n').filter((line) => {
    const at = Number(/^\[\d+:0x[\w:]+\] +(\d+) ms: .* gc=s /.exec(line)?.[1] ?? Number.NaN);
    return at >= from && at <= until;
  });
  const values = (name: string) => lines.map((line) => Number(new RegExp(` ${name}=([\\d.]+)`).exec(line)?.[1]));
  const each = (name: string) => Math.round(values(name).reduce((sum, value) => sum + value, 0) / requests);
  const pauses = values('pause').toSorted((a, b) => a - b);
  return {
    scavenges: lines.length,
    allocated: each('allocated'),
    promoted: each('promoted'),
    longest: pauses.at(-1) ?? 0,
    median: pauses[Math.floor(pauses.length / 2)] ?? 0,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(`${JSON.stringify(await collectionsUnder(20_000))}\n`);
}
