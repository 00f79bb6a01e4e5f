import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server } from 'node:net';
import { hostname } from 'node:os';
import { afterEach, describe, expect, it } from 'vitest';
import { doctor } from '../../../src/operator/doctor/doctor.ts';
import { exitCode, toJson } from '../../../src/operator/doctor/report.ts';
import { toText } from '../../../src/operator/doctor/report-text.ts';

const name = hostname();
/** Most machines find their own name, at an address that is not on the internet. */
const isOfThisMachine = await lookup(name).then(
  ({ address }) => /^(127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd])/.test(address),
  () => false,
);

const open: { server: Server; cut: () => void }[] = [];
afterEach(async () => {
  for (const { server, cut } of open.splice(0)) {
    const closed = new Promise((resolve) => server.close(resolve));
    cut();
    await closed;
  }
});

async function listen(server: Server, cut: () => void): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ server, cut });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.on('clientError', (_error, socket) => socket.destroy());
  return listen(server, () => server.closeAllConnections());
}

/** Sends these bytes as soon as something arrives. */
function serveBytes(bytes: string): Promise<string> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createNetServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(bytes));
  });
  return listen(server, () => {
    for (const socket of sockets) socket.destroy();
  });
}

const metadata = (origin: string, more: object = {}) =>
  JSON.stringify({
    resource: `${origin}/mcp`,
    authorization_servers: [origin],
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    response_types_supported: ['code'],
    ...more,
  });

describe('a hostile server', () => {
  it('with endless bodies is read up to a limit', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024, 'a');
    const origin = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        if (response.destroyed) return;
        sent += chunk.length;
        response.write(chunk, () => setImmediate(more));
      };
      more();
    });
    const before = process.memoryUsage().rss;
    const report = await doctor({ url: `${origin}/mcp`, only: ['resource', 'server', 'edge'] });
    expect(report.complete).toBe(true);
    expect(exitCode(report)).toBe(1);
    expect(sent).toBeGreaterThan(1_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
  });

  it('that sends slowly is abandoned after the timeout of a request', async () => {
    const origin = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    });
    const report = await doctor({ url: origin, patience: 300 });
    expect(report.unreachable).toBe('no complete response within 0.3 seconds');
    expect(exitCode(report)).toBe(2);
  });

  // A request has 200 ms: a machine that stalls for longer spoils an attempt.
  it('that answers only some requests is reported once, and the rest is skipped or reported', {
    timeout: 180_000,
    retry: 2,
  }, async () => {
    const origin = await serve((request, response) => {
      if (request.method === 'GET' && request.url === '/mcp') response.end('hello');
    });
    const report = await doctor({ url: `${origin}/mcp`, patience: 200, only: ['resource', 'mcp'] });
    expect(report.complete).toBe(true);
    expect(exitCode(report)).toBe(1);
    const failures = report.findings.filter(({ level }) => level === 'failure');
    expect(failures.map(({ check }) => check)).toEqual(['resource.found', 'resource.path-spelling']);
    expect(failures[1]?.seen).toContain('no complete response within 0.2 seconds');
  });

  it('cannot hold the doctor longer than the overall timeout', async () => {
    const origin = await serve((request, response) => {
      if (request.method === 'GET' && request.url === '/mcp') response.end('hello');
    });
    const report = await doctor({ url: `${origin}/mcp`, timeout: 0.5 });
    expect(report.complete).toBe(false);
    expect(exitCode(report)).toBe(2);
    expect(report.findings.every(({ level }) => level === 'skipped' || level === 'failure' || level === 'pass')).toBe(
      true,
    );
    expect(toText(report, { width: 80, colour: false })).toContain('The time was over');
  });

  it('with redirect loops gets no second request', async () => {
    const counts = new Map<string, number>();
    const origin = await serve((request, response) => {
      counts.set(request.url ?? '', (counts.get(request.url ?? '') ?? 0) + 1);
      response.writeHead(302, { location: request.url ?? '/' }).end();
    });
    const report = await doctor({ url: origin, only: ['resource'] });
    expect(exitCode(report)).toBe(1);
    expect(Math.max(...counts.values())).toBe(1);
  });

  it.each([
    ['garbage', 'blah blah\r\n\r\n'],
    ['half a header', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['an endless header', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`],
    ['nothing', ''],
  ])('that answers %s is reported as unreachable, with the reason', async (_name, bytes) => {
    const report = await doctor({ url: await serveBytes(bytes) });
    expect(report.unreachable).toMatch(/not HTTP|closed|too long|hang up/);
    expect(exitCode(report)).toBe(2);
  });

  it('cannot send control characters to the terminal or hide them in the JSON', async () => {
    const evil = '\u001b[2J\u0007\u202e\u009bevil';
    const origin = await serve((request, response) => {
      const home = `http://${request.headers.host}`;
      if (request.url === '/api') response.writeHead(401, { 'www-authenticate': 'Basic realm="\u009b1mx"' });
      else response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        metadata(home, {
          resource: evil,
          authorization_servers: [evil, home],
          code_challenge_methods_supported: [evil],
          registration_endpoint: evil,
        }),
      );
    });
    const report = await doctor({ url: `${origin}/api` });
    expect(exitCode(report)).toBe(1);
    const text = toText(report, { width: 80, colour: false });
    expect(text).toContain('evil');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    // JSON escapes control characters. If the text contains an escape sequence literally, its backslash is escaped.
    expect(JSON.stringify(toJson(report))).not.toMatch(/(?<!\\)\\u00|\u202e|\u009b/);
  });

  it('cannot make the doctor contact other hosts', async () => {
    let elsewhere = 0;
    const other = await serve((_request, response) => {
      elsewhere += 1;
      response.end('{}');
    });
    const origin = await serve((request, response) => {
      const home = `http://${request.headers.host}`;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        metadata(home, {
          jwks_uri: 'http://gate.internal/keys',
          token_endpoint: 'https://10.0.0.1/token',
          revocation_endpoint: 'file:///etc/passwd',
          introspection_endpoint: 'not an address',
          userinfo_endpoint: `https://[::ffff:7f00:1]:${new URL(other).port}/`,
        }),
      );
    });
    const report = await doctor({ url: `${origin}/mcp` });
    expect(report.complete).toBe(true);
    expect(elsewhere).toBe(0);
    const seen = report.findings.filter(({ check }) => check === 'server.https').map((one) => one.seen);
    expect(seen.join('\n')).toContain('token_endpoint is https://10.0.0.1/token');
    expect(report.findings.find(({ check }) => check === 'endpoint.keys')).toMatchObject({
      level: 'skipped',
      seen: 'no request to http://gate.internal: it is not https',
    });
    expect(report.findings.find(({ check }) => check === 'token.errors')).toMatchObject({
      level: 'skipped',
      seen: 'no request to https://10.0.0.1: it is in a private network',
    });
  });

  it.skipIf(!isOfThisMachine)('cannot make the doctor contact a name that leads into a private network', async () => {
    let elsewhere = 0;
    const other = await serve((_request, response) => {
      elsewhere += 1;
      response.end('{}');
    });
    const token_endpoint = `https://${name}:${new URL(other).port}/token`;
    const origin = await serve((request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(metadata(`http://${request.headers.host}`, { token_endpoint }));
    });
    const { findings } = await doctor({ url: `${origin}/mcp`, only: ['token.errors'] });
    expect(findings).toMatchObject([
      { level: 'skipped', seen: `no request to ${name}: it resolves to a private network` },
    ]);
    expect(elsewhere).toBe(0);
  });

  it('that sends Retry-After is retried once', async () => {
    let asked = 0;
    const origin = await serve((request, response) => {
      if (request.url === '/') return void response.end('hello');
      asked += 1;
      response.writeHead(429, { 'retry-after': asked === 1 ? '0' : '3600' }).end();
    });
    const report = await doctor({ url: origin, only: ['resource.found'] });
    expect(report.findings).toMatchObject([
      { level: 'skipped', seen: expect.stringContaining('429, retry after 3600 seconds') },
    ]);
    expect(asked).toBe(2);
  });

  it.each([
    ['edge.body-size', ({ headers }: IncomingMessage) => Number(headers['content-length'] ?? 0) > 500_000],
    ['challenge.slash', ({ url }: IncomingMessage) => url === '/mcp/'],
  ])('that goes away during %s is reported as gone', async (check, isLast) => {
    const server = createServer((request, response) => {
      if (isLast(request)) {
        server.close();
        server.closeAllConnections();
        return;
      }
      request.resume();
      response.writeHead(401, { 'content-type': 'application/json' }).end('{}');
    });
    const origin = await listen(server, () => server.closeAllConnections());
    const { findings } = await doctor({ url: `${origin}/mcp`, only: [check] });
    expect(findings).toMatchObject([
      {
        level: 'failure',
        seen: 'no answer: nothing is listening there',
        fix: expect.stringMatching(/^Is the gate running\?/),
      },
    ]);
  });

  it('with an excessive Retry-After is not retried', async () => {
    let asked = 0;
    const origin = await serve((request, response) => {
      if (request.url === '/') return void response.end('hello');
      asked += 1;
      response.writeHead(429, { 'retry-after': asked === 1 ? '3600' : '0' }).end();
    });
    const report = await doctor({ url: origin, only: ['resource.found'], timeout: 30 });
    expect(report.findings).toMatchObject([{ level: 'skipped', seen: expect.stringContaining('after 3600 seconds') }]);
    expect(asked).toBe(1);
    expect(report.complete).toBe(true);
  });
});
