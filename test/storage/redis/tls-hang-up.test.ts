import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRedisClient } from '../../../src/storage/redis/target.ts';
import { type Authority, createAuthority } from '../../support/certificates.ts';
import { type RedisServer, redisPresent, startRedis } from '../../support/redis.ts';
import { freePort } from '../../support/world.ts';

describe.skipIf(!redisPresent())('a Redis connection over TLS that is closed', () => {
  let authority: Authority;
  let server: RedisServer;
  let url: string;
  beforeAll(async () => {
    authority = createAuthority();
    const { certFile, keyFile } = authority.issue('localhost');
    const port = await freePort();
    const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', authority.caFile];
    server = await startRedis({ args: ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'] });
    url = `rediss://localhost:${port}`;
  });
  afterAll(async () => {
    await server.close();
    authority.close();
  });

  it('during the handshake does not end the process', async () => {
    // Vitest fails on an uncaught exception, which would end the gate.
    for (let tries = 0; tries < 300; tries += 1) {
      const client = createRedisClient({ url, tls: tries % 3 === 0 ? {} : { ca: authority.ca } });
      client.on('error', () => {});
      await sleep((tries % 60) / 10);
      client.disconnect();
      // A busy process reads the last data from Redis only after Redis has closed the connection.
      const busy = performance.now() + (tries % 5 === 0 ? tries % 20 : 0);
      while (performance.now() < busy);
    }
    const client = createRedisClient({ url, tls: { ca: authority.ca } });
    client.on('error', () => {});
    await new Promise((resolve) => client.once('ready', resolve));
    expect(await client.ping()).toBe('PONG');
    client.disconnect();
  });
});
