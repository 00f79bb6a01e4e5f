import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, introspect, postForm, registerApp } from '../support/app.ts';
import { approved, connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { missing } from '../support/missing.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';

const LIBRARY = ['x86_64', 'aarch64']
  .map((machine) => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find(existsSync);
const present =
  LIBRARY !== undefined ||
  missing('no libfaketime found: the tests of a clock that jumps need it (apt-get install libfaketime)');

const MINUTE = 60;
const HOUR = 60 * MINUTE;

describe.skipIf(!present)('a gate whose clock jumps', () => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-clock-'));
  const offset = join(folder, 'offset');
  /** Sets the wall clock of the gate, in seconds from the real one. Its timers run on, as those of a machine do. */
  const jump = (seconds: number) => writeFileSync(offset, `${seconds < 0 ? '' : '+'}${seconds}s\n`);
  let gate: GateProcess;
  let app: App;
  beforeAll(async () => {
    jump(0);
    gate = await gateProcess({
      environment: {
        LD_PRELOAD: LIBRARY ?? '',
        FAKETIME_TIMESTAMP_FILE: offset,
        FAKETIME_NO_CACHE: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    });
    await gate.start();
    app = await registerApp(gate.origin);
  });
  afterAll(async () => {
    await gate.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const connected = async () => (await connect(app)) as unknown as Tokens;
  const refresh = ({ refresh_token }: Tokens) => token(app, refreshForm(app, refresh_token));
  const refreshed = async (held: Tokens): Promise<Tokens> => {
    const answer = await refresh(held);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  };
  const revoke = async ({ refresh_token }: Tokens) => {
    const form = { client_id: app.client.client_id, token: refresh_token };
    expect((await postForm(String(app.server.revocation_endpoint), form)).status).toBe(200);
  };

  it.each([
    ['an hour ahead', HOUR],
    ['an hour back', -HOUR],
    ['a day ahead', 24 * HOUR],
    ['a day back', -24 * HOUR],
  ])('signs nobody out at %s and when it is right again, and restores nothing', async (_, seconds) => {
    jump(0);
    let held = await connected();
    const cut = await connected();
    const used = await approved(app);
    expect((await token(app, used.form)).status).toBe(200);
    await revoke(cut);

    for (const now of [seconds, 0, -seconds, 0]) {
      jump(now);
      held = await refreshed(held);
      // The school, whose clock is right, refuses an assertion of tomorrow: 403. The gate admits the token.
      expect([200, 403]).toContain(await statusOf(gate.origin, held.access_token));
      expect((await introspect(app, held.access_token)).active).toBe(true);
      expect(await statusOf(gate.origin, cut.access_token)).toBe(401);
      expect(await refresh(cut)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect(await token(app, used.form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    }
    // Whoever signs in while the clock is wrong stays connected too.
    jump(seconds);
    const { form } = await approved(app);
    const during = await token(app, form);
    expect(during.status).toBe(200);
    jump(0);
    expect(await refresh(during.body)).toMatchObject({ status: 200 });
  });

  it('treats a used token as reuse whatever the clock says', async () => {
    for (const seconds of [HOUR, -HOUR]) {
      jump(0);
      const first = await connected();
      const second = await refreshed(first);
      const third = await refreshed(second);
      jump(seconds);
      expect(await refresh(first)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      for (const { access_token } of [first, second, third])
        expect(await statusOf(gate.origin, access_token)).toBe(401);
      jump(0);
      expect(await refresh(third)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    }
  });
});
