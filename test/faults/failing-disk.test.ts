import { statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type App, introspect, registerApp } from '../support/app.ts';
import { approved, connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { injecting, stracePresent } from '../support/strace.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';

const REFUSED = { status: 503, body: { error: 'temporarily_unavailable' } };

describe.skipIf(!stracePresent())('a gate on a failing disk', () => {
  let gate: GateProcess;
  let app: App;
  let held: Tokens;
  beforeEach(async () => {
    gate = await gateProcess();
    await gate.start();
    app = await registerApp(gate.origin);
    held = (await connect(app)) as unknown as Tokens;
  });
  afterEach(() => gate.close());
  const readiness = async (path: string) => (await fetch(gate.admin + path)).status;
  const log = () => join(gate.data, 'coursegate.db-wal');

  it('becomes read-only until a restart after one failed sync, and logs why', async () => {
    const { form } = await approved(app);
    await injecting(
      gate.pid(),
      'fsync,fdatasync:error=EIO',
      async () => {
        expect(await token(app, form)).toMatchObject(REFUSED);
      },
      log(),
    );
    // The disk reports success again, but the state of earlier writes is unknown.
    for (let at = 0; at < 3; at += 1) {
      expect(await token(app, form)).toMatchObject(REFUSED);
      expect(await token(app, refreshForm(app, held.refresh_token))).toMatchObject(REFUSED);
    }
    expect(await statusOf(gate.origin, held.access_token)).toBe(200);
    expect((await introspect(app, held.access_token)).active).toBe(true);
    expect(await statusOf(gate.origin, 'unknown')).toBe(401);
    for (let at = 0; at < 3; at += 1) {
      const answer = await fetch(`${gate.admin}/readyz`);
      expect([answer.status, await answer.text()]).toEqual([503, 'the store cannot be used; the log says why\n']);
    }
    expect(await readiness('/livez')).toBe(200);
    expect(gate.log().match(/"err":\{[^\n]+the disk failed to store a write[^\n]+"msg":"not ready/g)).toHaveLength(1);
    expect(gate.log()).toContain('the disk failed to store a write');
    expect(gate.log()).toContain('read-only until coursegate is restarted');

    await gate.kill();
    await gate.start();
    expect(await readiness('/readyz')).toBe(200);
    // A refused write may have reached the disk nevertheless. There is at most one set of tokens.
    expect([200, 400]).toContain((await token(app, form)).status);
    expect(await token(app, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await token(app, refreshForm(app, held.refresh_token))).toMatchObject({ status: 200 });
  });

  it('returns 503 while writes fail, loses nothing, and works again without a restart', async () => {
    const { form } = await approved(app);
    await injecting(
      gate.pid(),
      'pwrite64,write:error=EIO',
      async () => {
        for (let at = 0; at < 3; at += 1) {
          expect(await token(app, form)).toMatchObject(REFUSED);
          expect(await token(app, refreshForm(app, held.refresh_token))).toMatchObject(REFUSED);
        }
        expect(await statusOf(gate.origin, held.access_token)).toBe(200);
      },
      log(),
    );
    expect(await readiness('/readyz')).toBe(200);
    expect(gate.log()).toContain('disk I/O error');
    expect(await token(app, form)).toMatchObject({ status: 200 });
    expect(await token(app, refreshForm(app, held.refresh_token))).toMatchObject({ status: 200 });
  });

  it('responds late but correctly when the disk is slow, and keeps what it acknowledged after a kill', async () => {
    const { form } = await approved(app);
    const [redeemed, refreshed] = await injecting(
      gate.pid(),
      'fsync,fdatasync:delay_enter=300000',
      () => Promise.all([token(app, form), token(app, refreshForm(app, held.refresh_token))]),
      log(),
    );
    expect([redeemed.status, refreshed.status]).toEqual([200, 200]);
    await gate.kill();
    await gate.start();
    for (const { body } of [redeemed, refreshed]) expect(await statusOf(gate.origin, body.access_token)).toBe(200);
  });

  it('responds to other requests while the disk is slow, and stores many refreshes with a few syncs', async () => {
    const connections: Tokens[] = [];
    while (connections.length < 20) connections.push((await connect(app)) as unknown as Tokens);
    await injecting(
      gate.pid(),
      'fdatasync:delay_enter=1000000',
      async () => {
        const started = performance.now();
        const all = Promise.all(connections.map((one) => token(app, refreshForm(app, one.refresh_token))));
        const waits: number[] = [];
        const answered = all.then((refreshed) => refreshed.map(({ status }) => status));
        for (let over = false; !over; ) {
          const asked = performance.now();
          expect((await fetch(`${gate.admin}/livez`)).status).toBe(200);
          waits.push(performance.now() - asked);
          over = await Promise.race([answered.then(() => true), new Promise<false>((no) => setTimeout(no, 20, false))]);
        }
        expect(await answered).toEqual(connections.map(() => 200));
        const took = performance.now() - started;
        expect(took).toBeGreaterThan(1000);
        // With a sync each, they would take twenty seconds.
        expect(took).toBeLessThan(10_000);
        // A gate that waits for its disk is late at each sync; a machine that stalls once is late once.
        expect(waits.toSorted((a, b) => b - a)[1]).toBeLessThan(900);
      },
      log(),
    );
  });

  it('repeats a response only when it is stored', async () => {
    await injecting(
      gate.pid(),
      'fdatasync:delay_enter=3000000',
      async () => {
        const form = refreshForm(app, held.refresh_token);
        const written = () => statSync(log()).mtimeMs;
        const before = written();
        const first = token(app, form);
        await vi.waitFor(() => expect(written()).toBeGreaterThan(before), { interval: 5, timeout: 10_000 });
        const asked = performance.now();
        const repeated = await token(app, form);
        expect(performance.now() - asked).toBeGreaterThan(1500);
        expect(repeated).toMatchObject({ status: 200, body: { refresh_token: (await first).body.refresh_token } });
      },
      log(),
    );
  });
});
