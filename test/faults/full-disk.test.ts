import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type App, introspect, postForm, registerApp } from '../support/app.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import {
  type Answered,
  approved,
  connect,
  read,
  refreshForm,
  statusOf,
  type Tokens,
  token,
} from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';
import { MIB, smallDisk } from './small-disk.ts';

const disk = smallDisk(96);

describe.skipIf(!disk.isMounted)('a gate on a full disk', () => {
  const { path: data, free, fillUpTo, empty } = disk;
  const database = join(data, 'coursegate.db');
  let gate: GateProcess;
  let app: App;
  beforeAll(async () => {
    gate = await gateProcess({
      data,
      environment: {
        COMMAND_SECRET,
        COURSEGATE__ADMIN: '{ hmac: { secret: { env: COMMAND_SECRET } } }',
        COURSEGATE__CLIENTS__REGISTRATION__PER_ADDRESS_PER_MINUTE: '100000',
      },
    });
    await gate.start();
    app = await registerApp(gate.origin);
    await reserved();
  });
  afterAll(async () => {
    await gate.close();
    disk.close();
  });

  const connected = async (options = {}) => (await connect(app, options)) as unknown as Tokens;
  const register = async () =>
    read(
      await fetch(String(app.server.registration_endpoint), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['https://app.example/callback'], token_endpoint_auth_method: 'none' }),
      }),
    );
  const push = async () =>
    read(
      await postForm(app.server.pushed_authorization_request_endpoint, {
        response_type: 'code',
        client_id: app.client.client_id,
        redirect_uri: app.redirectUri,
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
        resource: app.resource,
        state: 's'.repeat(2048),
      }),
    );
  const revoke = async (value: string) =>
    read(await postForm(app.server.revocation_endpoint, { client_id: app.client.client_id, token: value }));
  const readiness = async () => {
    const answer = await fetch(`${gate.admin}/readyz`);
    return [answer.status, (await answer.text()).trim()];
  };
  /** 8 MiB of filler in the file and 4 MiB of log, both created soon after the start. */
  const reserved = () =>
    vi.waitFor(
      () => {
        expect(statSync(database).size).toBeGreaterThan(8 * MIB);
        expect(statSync(`${database}-wal`).size).toBeGreaterThan(4 * MIB - 64 * 1024);
      },
      { timeout: 20_000, interval: 50 },
    );
  const refusedFor5s = ({ status, headers, body }: Answered<object>) => {
    expect({ status, body }).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
    expect(headers.get('retry-after')).toBe('5');
  };

  it('refuses requests of strangers as soon as space is short, while members can still connect', async () => {
    fillUpTo(33 * MIB);
    let refused: Answered<object> | undefined;
    for (let at = 0; at < 2000 && refused === undefined; at += 1) {
      const answer = await push();
      if (answer.status !== 201) refused = answer;
    }
    expect(refused).toBeDefined();
    if (refused !== undefined) refusedFor5s(refused);
    expect(free()).toBeGreaterThan(30 * MIB);
    // The gate may have returned some pages to the disk meanwhile.
    fillUpTo(30 * MIB);
    await vi.waitFor(async () => refusedFor5s(await register()), { timeout: 30_000 });
    expect(await readiness()).toEqual([200, 'ok']);
    empty();
    await vi.waitFor(async () => expect((await push()).status).toBe(201), { timeout: 30_000 });
  });

  it('still ends connections and refreshes tokens, and works again without a restart when there is space', async () => {
    const kept = await connected();
    const [ended, cutOff] = [await connected(), await connected({ member: OLU })];
    const { form } = await approved(app);
    expect((await readiness())[0]).toBe(200);
    fillUpTo(0);
    expect(free()).toBeLessThan(MIB);

    // From now on, the disk has no free byte.
    await vi.waitFor(async () => expect((await readiness())[0]).toBe(503), { timeout: 30_000, interval: 100 });
    expect(await readiness()).toEqual([503, 'the store cannot be used; the log says why']);
    for (let at = 0; at < 3; at += 1) {
      refusedFor5s(await token(app, form));
      refusedFor5s(await register());
      refusedFor5s(await push());
    }
    // The log gives the reason.
    expect(gate.log()).toContain('disk is full');

    // Far more than the log holds before a checkpoint: they use the reserve.
    let refreshToken = kept.refresh_token;
    for (let at = 0; at < 400; at += 1) {
      const refreshed = await token(app, refreshForm(app, refreshToken));
      expect([at, refreshed.status]).toEqual([at, 200]);
      refreshToken = refreshed.body.refresh_token;
    }
    expect((await revoke(ended.refresh_token)).status).toBe(200);
    expect((await introspect(app, ended.access_token)).active).toBe(false);
    expect(await statusOf(gate.origin, cutOff.access_token)).toBe(200);
    expect(await command(gate.admin, '/members/m-1002/revoke')).toMatchObject({ status: 200, body: { ended: 1 } });
    expect(await statusOf(gate.origin, cutOff.access_token)).toBe(401);
    expect(await command(gate.admin, '/members/m-1002/suspend')).toMatchObject({ status: 200 });
    expect(await statusOf(gate.origin, 'unknown')).toBe(401);
    // Acknowledged writes are not lost on a full disk.
    await gate.kill();
    expect(free()).toBeLessThan(MIB);

    empty();
    await gate.start();
    expect((await readiness())[0]).toBe(200);
    expect((await introspect(app, cutOff.access_token)).active).toBe(false);
    const again = await token(app, refreshForm(app, refreshToken));
    expect(again).toMatchObject({ status: 200 });
    expect((await revoke(again.body.refresh_token)).status).toBe(200);
    await reserved();

    // The disk fills up again, and is freed while the gate runs.
    const { form: second } = await approved(app);
    fillUpTo(0);
    await vi.waitFor(async () => expect((await readiness())[0]).toBe(503), { timeout: 30_000, interval: 100 });
    refusedFor5s(await token(app, second));
    empty();
    await vi.waitFor(async () => expect((await readiness())[0]).toBe(200), { timeout: 30_000, interval: 100 });
    const redeemed = await token(app, second);
    expect(redeemed).toMatchObject({ status: 200 });
    expect(await statusOf(gate.origin, redeemed.body.access_token)).toBe(200);
    expect((await register()).status).toBe(201);
  });
});
