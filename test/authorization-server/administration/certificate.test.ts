import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority } from '../../support/certificates.ts';
import { COMMAND_SECRET, commandSignature } from '../../support/commands.ts';
import { startWorld, type World } from '../../support/world.ts';

type Pair = { readonly cert: string; readonly key: string };

describe('an admin listener with a client CA', () => {
  let own: Authority;
  let backends: Authority;
  let strangers: Authority;
  let world: World;
  let mtls: Record<string, unknown>;
  beforeAll(async () => {
    [own, backends, strangers] = [createAuthority(), createAuthority(), createAuthority()];
    const { certFile, keyFile } = own.issue('localhost');
    mtls = { cert: certFile, key: keyFile, clientCa: backends.caFile };
    world = await startWorld({
      profile: 'A',
      environment: { COMMAND_SECRET },
      overrides: { admin: { mtls } },
    });
  });
  afterAll(async () => {
    await world.close();
    for (const one of [own, backends, strangers]) one.close();
  });

  const ask = (method: string, path: string, pair?: Pair, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = request(
        {
          method,
          path,
          port: new URL(world.admin).port,
          host: '127.0.0.1',
          servername: 'localhost',
          ca: own.ca,
          headers,
          agent: false,
          ...pair,
        },
        async (answer) => {
          let text = '';
          for await (const chunk of answer) text += String(chunk);
          resolve({ status: answer.statusCode ?? 0, text });
        },
      );
      asked.once('error', reject);
      asked.end();
    });
  const revoke = (pair?: Pair, headers?: Record<string, string>) =>
    ask('POST', '/members/m-1001/revoke', pair, headers);

  it('accepts commands only with a certificate of that CA', async () => {
    expect(await revoke(backends.issue('backend.internal'))).toEqual({
      status: 200,
      text: '{"id":"m-1001","ended":0}',
    });
    for (const pair of [undefined, strangers.issue('backend.internal'), backends.issue('backend.internal', -1)]) {
      const { status, text } = await revoke(pair);
      expect([status, text]).toEqual([401, expect.stringContaining('admin.mtls.clientCa')]);
    }
    const signature = commandSignature('/members/m-1001/revoke');
    expect((await revoke(undefined, { 'coursegate-signature': signature })).status).toBe(401);
  });

  it('needs no certificate for health checks and metrics, and speaks only TLS', async () => {
    for (const path of ['/livez', '/readyz', '/metrics']) expect((await ask('GET', path)).status).toBe(200);
    await expect(fetch(`${world.admin}/livez`)).rejects.toThrow();
  });

  it('accepts only certificates with a listed name, or a signature', async () => {
    await world.restart({
      admin: { mtls: { ...mtls, names: ['backend.internal'] }, hmac: { secret: { env: 'COMMAND_SECRET' } } },
    });
    expect((await revoke(backends.issue('backend.internal'))).status).toBe(200);
    expect((await revoke(backends.issue('metrics.internal'))).status).toBe(401);
    const signature = commandSignature('/members/m-1001/revoke');
    expect((await revoke(undefined, { 'coursegate-signature': signature })).status).toBe(200);
  });
});
