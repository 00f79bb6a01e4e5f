import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, introspect, postForm, registerApp } from '../support/app.ts';
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
import { type GateProcess, gateProcess } from './gate-process.ts';

/** A disk of two mebibytes: a file system in memory, which only root may mount. */
function smallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=0700', 'coursegate-test', folder], { stdio: 'pipe' });
    return folder;
  } catch {
    rmSync(folder, { recursive: true });
    process.stderr.write('SKIPPED: the tests of a full disk need the right to mount one (root).\n');
    return undefined;
  }
}

const disk = smallDisk();

describe.skipIf(disk === undefined)('a disk that is full', () => {
  const data = disk ?? '';
  const ballast = join(data, 'ballast');
  let gate: GateProcess;
  let app: App;
  let held: Tokens;
  beforeAll(async () => {
    gate = await gateProcess({ data });
    await gate.start();
    app = await registerApp(gate.origin);
    held = await connected();
  });
  afterAll(async () => {
    await gate.close();
    execFileSync('umount', [data]);
    rmSync(data, { recursive: true });
  });

  const connected = async () => (await connect(app)) as unknown as Tokens;
  const register = async () =>
    read(
      await fetch(String(app.server.registration_endpoint), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ redirect_uris: ['https://app.example/callback'], token_endpoint_auth_method: 'none' }),
      }),
    );
  const revoke = async (value: string) =>
    read(await postForm(app.server.revocation_endpoint, { client_id: app.client.client_id, token: value }));
  const fill = () => {
    const { bavail, bsize } = statfsSync(data);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
  };
  /** The log may have room left from before: written to until a commit no longer fits. */
  const untilRefused = async () => {
    for (let at = 0; at < 400; at += 1) {
      const answer = await register();
      if (answer.status !== 201) return answer;
    }
    throw new Error('the disk never became full');
  };

  it('takes no write and says when to come again, reads on, and works once there is room, without a restart', async () => {
    const { form } = await approved(app);
    fill();
    const refused: Answered<object>[] = [await untilRefused()];
    for (let at = 0; at < 3; at += 1) {
      refused.push(
        await token(app, form),
        await token(app, refreshForm(app, held.refresh_token)),
        await revoke(held.refresh_token),
        await register(),
      );
    }
    for (const { status, headers, body } of refused) {
      expect({ status, body }).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
      expect(headers.get('retry-after')).toBe('5');
    }
    expect((await introspect(app, held.access_token)).active).toBe(true);
    expect(await statusOf(gate.origin, held.access_token)).toBe(200);
    expect(await statusOf(gate.origin, 'unknown')).toBe(401);
    // The log tells the operator why.
    expect(gate.log()).toContain('disk is full');

    rmSync(ballast);
    const redeemed = await token(app, form);
    expect(redeemed).toMatchObject({ status: 200 });
    expect(await statusOf(gate.origin, redeemed.body.access_token)).toBe(200);
    const refreshed = await token(app, refreshForm(app, held.refresh_token));
    expect(refreshed).toMatchObject({ status: 200 });
    expect((await revoke(refreshed.body.refresh_token)).status).toBe(200);
    expect((await introspect(app, held.access_token)).active).toBe(false);
    expect((await register()).status).toBe(201);
  });
});
