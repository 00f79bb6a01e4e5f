import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { outboundFetch } from '../../src/login/outbound-fetch.ts';

const ILL = { code: 'login_unavailable' };
const hits: string[] = [];
let answer: (response: ServerResponse) => void;
const server = createServer((request, response) => {
  hits.push(request.url ?? '');
  answer(response);
});
let url: string;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  hits.length = 0;
  answer = (response) => response.end('{}');
});

describe('a call to an identity provider', () => {
  it('uses http to this machine only if the operator configured such a URL', async () => {
    await expect(outboundFetch({ timeout: 10, loopback: false })(url)).rejects.toMatchObject(ILL);
    expect(hits).toEqual([]);
    expect((await outboundFetch({ timeout: 10, loopback: true })(url)).status).toBe(200);
  });

  it.each(['http://school.test/', 'http://127.0.0.1.school.test/', 'ftp://127.0.0.1/', 'data:application/json,{}'])(
    'never requests %s',
    async (other) => {
      await expect(outboundFetch({ timeout: 10, loopback: true })(other)).rejects.toMatchObject({
        ...ILL,
        cause: { message: `${other} is not https` },
      });
    },
  );

  it('follows no redirect, and reads at most 1 MiB', async () => {
    const ask = outboundFetch({ timeout: 10, loopback: true });
    answer = (response) => response.writeHead(302, { location: `${url}/inside` }).end();
    expect((await ask(`${url}/a`)).status).toBe(302);
    expect(hits).toEqual(['/a']);
    answer = (response) => response.end(Buffer.alloc(1024 * 1024));
    expect((await (await ask(url)).arrayBuffer()).byteLength).toBe(1024 * 1024);
    answer = (response) => response.end(Buffer.alloc(1024 * 1024 + 1));
    await expect(ask(url)).rejects.toMatchObject(ILL);
  });

  it('is aborted at its timeout, even in the middle of the body', async () => {
    answer = (response) => void response.writeHead(200).write('{');
    await expect(outboundFetch({ timeout: 1, loopback: true })(url)).rejects.toMatchObject(ILL);
  });
});
