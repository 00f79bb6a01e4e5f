import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { readSendQueues } from '../../src/http/send-queues.ts';

it.skipIf(process.platform !== 'linux').each([
  ['127.0.0.1', '127.0.0.1'],
  ['::1', '::1'],
  ['::', '127.0.0.1'],
])('the send queue of a server on %s shows what a client at %s has not confirmed', async (host, from) => {
  const server = createServer().listen(0, host);
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, from).pause();
  const [inside] = (await once(server, 'connection')) as [Socket];
  expect((await readSendQueues())?.of(inside)).toBe(0);
  inside.write(Buffer.alloc(64 * 1024 * 1024));
  const queued = async () => (await readSendQueues())?.of(inside) ?? -1;
  await expect.poll(queued, { timeout: 10_000 }).toBeGreaterThan(100_000);
  client.resume();
  await expect.poll(queued, { timeout: 10_000 }).toBe(0);
  client.destroy();
  inside.destroy();
  await expect.poll(queued).toBe(-1);
  server.close();
});
