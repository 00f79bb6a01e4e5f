import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DocumentFailure } from '../../../src/authorization-server/client-documents/failure.ts';
import { fetchDocument } from '../../../src/authorization-server/client-documents/fetch-document.ts';
import { INTERNET } from '../../../src/authorization-server/client-documents/network.ts';
import { answerJson, type DocumentHost, HERE, plainDocument, startDocumentHost } from './support/document-host.ts';

const DEADLINE = 600;
/** For what must not wait for the deadline, or must end before it. */
const LATER = 30_000;

describe('fetchDocument', () => {
  let host: DocumentHost;
  beforeAll(async () => {
    host = await startDocumentHost();
  });
  afterAll(() => host.close());

  const fetchIt = (url: string, network = host.network, deadline = LATER) =>
    fetchDocument(new URL(url), network, deadline);

  const failureOf = async (url: string, network = host.network, deadline = LATER): Promise<DocumentFailure> => {
    const thrown = await fetchIt(url, network, deadline).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(thrown instanceof DocumentFailure)) throw new Error(`no DocumentFailure but ${thrown}`);
    return thrown;
  };

  it('sends one plain request and returns the body', async () => {
    const url = 'https://plain.apps.example/client.json';
    host.serve(url, answerJson(plainDocument(url), { 'cache-control': 'max-age=600' }));
    const { body, cacheControl } = await fetchIt(url);
    expect(JSON.parse(body.toString())).toEqual(plainDocument(url));
    expect(cacheControl).toBe('max-age=600');
    const asked = host.requests.filter((request) => request.url === url);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.headers).toEqual({
      host: 'plain.apps.example',
      connection: 'close',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'coursegate',
    });
  });

  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON', 'application/cimd+json'])(
    'accepts %s',
    async (type) => {
      const url = 'https://types.apps.example/client.json';
      host.serve(url, answerJson(plainDocument(url), { 'content-type': type }));
      await expect(fetchIt(url)).resolves.toBeDefined();
    },
  );

  it('accepts 5 KiB and not a byte more, with or without Content-Length', async () => {
    const url = 'https://size.apps.example/client.json';
    for (const announced of [true, false]) {
      for (const size of [5120, 5121]) {
        host.serve(url, (_request, response) => {
          response.writeHead(200, {
            'content-type': 'application/json',
            ...(announced ? { 'content-length': size } : {}),
          });
          response.write('a');
          response.end('a'.repeat(size - 1));
        });
        if (size === 5120) expect((await fetchIt(url)).body).toHaveLength(5120);
        else expect((await failureOf(url)).message).toContain('larger');
      }
    }
  });

  describe('connects to no address that is not public', () => {
    const elsewhere = '127.0.0.2';

    it.each([
      ['a private address', [elsewhere]],
      ['a public and a private address', [HERE, elsewhere]],
      ['a private address first', [elsewhere, HERE]],
      ['a public IPv4 and a private IPv6 address', [HERE, '::1']],
      ['a mapped address', ['::ffff:127.0.0.1']],
      ['a NAT64 address', ['64:ff9b::7f00:1']],
      ['a 6to4 address', ['2002:7f00:1::1']],
      ['cloud metadata', ['169.254.169.254']],
      ['something that is not an address', ['2130706433']],
      ['nothing', []],
    ])('when a name resolves to %s', async (_what, addresses) => {
      host.names.set('private.apps.example', () => addresses);
      const before = host.connections();
      expect((await failureOf('https://private.apps.example/client.json')).kind).toBe('unavailable');
      expect(host.connections()).toBe(before);
    });

    it('with the network of production', async () => {
      expect(INTERNET).toMatchObject({ port: 443, trusted: undefined });
      expect(['127.0.0.1', '10.0.0.1', '::1', '::ffff:8.8.8.8'].filter(INTERNET.permits)).toEqual([]);
      const local = { ...INTERNET, resolve: host.network.resolve, port: host.network.port };
      const before = host.connections();
      const { message, cause } = await failureOf('https://plain.apps.example/client.json', local);
      // The reason is for the log. What the app is told does not say what a name resolves to.
      expect(String(cause)).toContain('127.0.0.1, which is not public');
      expect(message).not.toContain('127.0.0.1');
      expect(host.connections()).toBe(before);
    });

    it('unless that is permitted, as this control shows', async () => {
      const url = 'https://private.apps.example/client.json';
      host.names.set('private.apps.example', () => [elsewhere]);
      host.serve(url, answerJson(plainDocument(url)));
      const before = host.connections();
      await fetchIt(url, { ...host.network, permits: () => true });
      expect(host.connections()).toBe(before + 1);
    });

    it('when a name resolves to a public address first and to a private one later', async () => {
      const url = 'https://rebind.apps.example/client.json';
      host.serve(url, answerJson(plainDocument(url)));
      let asked = 0;
      host.names.set('rebind.apps.example', () => {
        asked += 1;
        return [asked === 1 ? HERE : elsewhere];
      });
      await fetchIt(url);
      expect(asked).toBe(1);
      expect((await failureOf(url)).kind).toBe('unavailable');
      expect(asked).toBe(2);
    });

    it.each(['https_proxy', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'])(
      'and uses no proxy set with %s',
      async (variable) => {
        const url = 'https://proxy.apps.example/client.json';
        host.serve(url, answerJson(plainDocument(url)));
        const proxied: Socket[] = [];
        const proxy = createServer((socket) => proxied.push(socket.on('error', () => undefined)));
        await new Promise<void>((resolve) => proxy.listen(0, HERE, resolve));
        const { port } = proxy.address() as { port: number };
        process.env[variable] = variable === 'NODE_USE_ENV_PROXY' ? '1' : `http://${HERE}:${port}`;
        try {
          await fetchIt(url);
          expect(proxied).toHaveLength(0);
        } finally {
          delete process.env[variable];
          for (const socket of proxied) socket.destroy();
          proxy.close();
        }
      },
    );
  });

  it.each([301, 302, 303, 307, 308])('does not follow a %i', async (status) => {
    const url = 'https://moved.apps.example/client.json';
    const to = 'https://target.apps.example/client.json';
    host.serve(to, answerJson(plainDocument(to)));
    host.serve(url, (_request, response) => response.writeHead(status, { location: to }).end());
    expect((await failureOf(url)).kind).toBe('unavailable');
    expect(host.requests.filter((request) => request.url === to)).toEqual([]);
    expect(host.resolved).not.toContain('target.apps.example');
  });

  it.each([
    [404, 'gone'],
    [410, 'gone'],
    [500, 'unavailable'],
    [503, 'unavailable'],
    [403, 'unavailable'],
    [401, 'unavailable'],
    [201, 'unavailable'],
    [204, 'unavailable'],
    [206, 'unavailable'],
  ])('treats status %i as %s', async (status, kind) => {
    const url = 'https://status.apps.example/client.json';
    host.serve(url, (_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(status === 204 ? undefined : '{}'),
    );
    expect((await failureOf(url)).kind).toBe(kind);
  });

  it.each([
    ['text/html', { 'content-type': 'text/html' }],
    ['text/json', { 'content-type': 'text/json' }],
    ['application/jsonp', { 'content-type': 'application/jsonp' }],
    ['no type', {}],
    ['two types', { 'content-type': ['application/json', 'text/html'] }],
    ['a content coding that was not offered', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
    ['even the coding identity', { 'content-type': 'application/json', 'content-encoding': 'identity' }],
  ])('refuses %s', async (_what, headers) => {
    const url = 'https://types.apps.example/client.json';
    const text = JSON.stringify(plainDocument(url));
    const body = Object.values(headers).includes('gzip') ? gzipSync(text) : text;
    host.serve(url, (_request, response) => response.writeHead(200, headers as Record<string, string>).end(body));
    expect((await failureOf(url)).kind).toBe('unavailable');
  });

  it('does not decompress a body', async () => {
    const url = 'https://bomb.apps.example/client.json';
    const bomb = gzipSync(Buffer.alloc(4_000_000, ' '));
    expect(bomb.length).toBeLessThan(5120);
    host.serve(url, (_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb),
    );
    expect((await failureOf(url)).message).toContain('compressed');
  });

  it('stops reading an endless body at the limit', async () => {
    const url = 'https://endless.apps.example/client.json';
    let sent = 0;
    host.serve(url, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = () => {
        while (!response.destroyed && response.write('a'.repeat(16_384))) sent += 16_384;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    expect((await failureOf(url)).message).toContain('larger');
    expect(sent).toBeLessThan(20_000_000);
  });

  it('refuses a Content-Length of a terabyte at once', async () => {
    const url = 'https://endless.apps.example/client.json';
    host.serve(url, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1e12 });
      response.write('{');
    });
    expect((await failureOf(url)).message).toContain('larger');
  });

  it.each([
    ['never responds', () => undefined],
    [
      'sends one byte at a time',
      (_request: unknown, response: ServerResponse) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(timer));
      },
    ],
    [
      'switches to another protocol',
      (_request: unknown, { socket }: ServerResponse) =>
        socket?.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    ],
  ])('gives up on a host that %s', async (_what, answer) => {
    const url = 'https://slow.apps.example/client.json';
    host.serve(url, answer);
    const began = performance.now();
    expect((await failureOf(url, host.network, DEADLINE)).kind).toBe('unavailable');
    const took = performance.now() - began;
    expect(took).toBeGreaterThan(DEADLINE - 50);
    expect(took).toBeLessThan(DEADLINE + 5000);
  });

  it('gives up on an endless handshake, a refused connection, and a name that does not resolve', async () => {
    const sockets: Socket[] = [];
    const mute = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => mute.listen(0, HERE, resolve));
    const { port } = mute.address() as { port: number };
    const url = 'https://slow.apps.example/client.json';
    const began = performance.now();
    const failures = await Promise.all([
      failureOf(url, { ...host.network, port }, DEADLINE),
      failureOf(url, { ...host.network, resolve: () => new Promise(() => undefined) }, DEADLINE),
      failureOf(url, { ...host.network, resolve: () => Promise.reject(new Error('NXDOMAIN')) }),
      failureOf(url, { ...host.network, port: 1 }),
    ]);
    expect(failures.map((failure) => failure.kind)).toEqual(Array(4).fill('unavailable'));
    expect(performance.now() - began).toBeLessThan(DEADLINE + 5000);
    for (const socket of sockets) socket.destroy();
    mute.close();
  });

  it('rejects a certificate for another name or from another authority', async () => {
    const url = 'https://not-in-certificate.example/client.json';
    host.serve(url, answerJson(plainDocument(url)));
    expect((await failureOf(url)).kind).toBe('unavailable');
    const other = 'https://plain.apps.example/client.json';
    expect((await failureOf(other, { ...host.network, trusted: undefined })).kind).toBe('unavailable');
  });
});
