import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { familiesInSqlite } from '../faults/families.ts';
import type { GateProcess } from '../faults/gate-process.ts';
import { patiently } from '../faults/patiently.ts';
import { type Outcome, post } from '../faults/post.ts';
import { type App, postForm, registerApp } from '../support/app.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { approved, connect, refreshForm, type Tokens, token } from '../support/connection.ts';
import { childrenOf, clusterGate, keptConnection, metric, oneOfEach } from './support/cluster-gate.ts';

describe('two workers on one embedded store', () => {
  let gate: GateProcess;
  let app: App;
  beforeAll(async () => {
    // Nothing is answered twice: of those that ask at once one is given tokens, and the others are refused.
    gate = await clusterGate({
      environment: {
        COURSEGATE__TOKENS__REPLAYWINDOW: '0s',
        COURSEGATE__ADMIN__HMAC__SECRET__ENV: 'COMMAND_SECRET',
        COMMAND_SECRET,
      },
    });
    await gate.start();
    app = await registerApp(gate.origin);
  });
  afterAll(() => gate.close());

  const connected = async () => (await connect(app)) as unknown as Tokens;
  const atOnce = (times: number, form: Record<string, string | undefined>): Promise<Outcome[]> =>
    Promise.all(Array.from({ length: times }, () => post(String(app.server.token_endpoint), form).outcome));
  const statuses = (outcomes: readonly Outcome[]) =>
    outcomes.map((outcome) => (outcome.kind === 'answered' ? outcome.status : outcome.kind)).toSorted();
  const onceOf = (times: number) => [200, ...Array.from({ length: times - 1 }, () => 400)];

  it('are two processes beside the one that was started, and one secret and set of keys was made', async () => {
    expect(childrenOf(gate.pid())).toHaveLength(2);
    const kept = await oneOfEach(gate.origin);
    const keys = await Promise.all(kept.map((one) => one.get('/.well-known/jwks.json')));
    expect(new Set(keys.map(({ text }) => text)).size).toBe(1);
    for (const one of kept) one.close();
    expect(readdirSync(gate.data).filter((name) => name.endsWith('.secret'))).toHaveLength(1);
  });

  it('give one token set for a code that is redeemed 20 times at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { form } = await approved(app);
      expect(statuses(await atOnce(20, form))).toEqual(onceOf(20));
    }
    // Each code was used up, and what came of it is whole.
    for (const { codes, refresh_tokens } of familiesInSqlite(gate.data))
      expect([codes, refresh_tokens]).toEqual([0, 1]);
  });

  it('give one successor for a refresh token that is used 20 times at once', async () => {
    for (let round = 0; round < 5; round += 1) {
      const first = await connected();
      const outcomes = await atOnce(20, refreshForm(app, first.refresh_token));
      expect(statuses(outcomes)).toEqual(onceOf(20));
    }
  });

  it('both refuse a token as soon as its revocation is answered', async () => {
    const kept = await oneOfEach(gate.origin);
    try {
      for (let round = 0; round < 10; round += 1) {
        const { access_token, refresh_token } = await connected();
        const headers = { authorization: `Bearer ${access_token}` };
        // All of them know it, and would believe it for seconds.
        for (const one of kept) expect((await one.get('/api/v1/whoami', headers)).status).toBe(200);
        const form = { client_id: app.client.client_id, token: refresh_token };
        const revoked = await post(String(app.server.revocation_endpoint), form).outcome;
        expect(revoked).toMatchObject({ status: 200 });
        const after = await Promise.all(kept.map((one) => one.get('/api/v1/whoami', headers)));
        expect(after.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
      }
    } finally {
      for (const one of kept) one.close();
    }
  });

  it('answer a revocation although one of them stands still, which hears of it when it goes on', async () => {
    const kept = await oneOfEach(gate.origin);
    const { access_token, refresh_token } = await connected();
    const headers = { authorization: `Bearer ${access_token}` };
    for (const one of kept) expect((await one.get('/api/v1/whoami', headers)).status).toBe(200);
    const [still] = childrenOf(gate.pid()) as [number];
    process.kill(still, 'SIGSTOP');
    try {
      // Those that are with it hear nothing until it goes on.
      const form = { client_id: app.client.client_id, token: refresh_token };
      // It was given one connection before it was known to stand still: another is tried.
      const revoked = Promise.any(
        [1, 2, 3].map(async () => {
          const answer = await patiently(() => postForm(app.server.revocation_endpoint, form, { connection: 'close' }));
          expect(answer.status).toBe(200);
        }),
      );
      await revoked;
      await expect.poll(() => gate.log().includes('were not told')).toBe(true);
    } finally {
      process.kill(still, 'SIGCONT');
    }
    for (const one of kept) {
      await expect
        .poll(async () => (await one.get('/api/v1/whoami', headers)).status, { interval: 20, timeout: 5_000 })
        .toBe(401);
    }
    for (const one of kept) one.close();
    await expect.poll(async () => (await fetch(`${gate.admin}/readyz`)).status).toBe(200);
  });

  it('take over a rotation of the keys from the one that was asked for it', async () => {
    const kept = await oneOfEach(gate.origin);
    const first = async () =>
      (await Promise.all(kept.map((one) => one.get('/.well-known/jwks.json')))).map(
        ({ text }) => (JSON.parse(text) as { keys: { kid: string }[] }).keys[0]?.kid,
      );
    const [before] = await first();
    expect((await command(gate.admin, '/keys/rotate', { body: '{"now":true}' })).status).toBe(200);
    await expect.poll(async () => new Set(await first()).size, { timeout: 25_000, interval: 200 }).toBe(1);
    expect((await first())[0]).not.toBe(before);
    for (const one of kept) one.close();
  });

  it('tell what both have counted, exactly, and of themselves each by its number', async () => {
    const series =
      'coursegate_http_request_duration_seconds_count{route="/api/v1/whoami",method="GET",status="401",verdict="refused"}';
    const before = await metric(gate.admin, series);
    for (let at = 0; at < 31; at += 1) {
      const one = keptConnection(gate.origin);
      expect((await one.get('/api/v1/whoami')).status).toBe(401);
      one.close();
    }
    expect((await metric(gate.admin, series)) - before).toBe(31);
    expect(await metric(gate.admin, 'coursegate_workers{state="listening"}')).toBe(2);
    for (const worker of ['1', '2', 'primary'])
      expect(await metric(gate.admin, `process_resident_memory_bytes{worker="${worker}"}`)).toBeGreaterThan(1e7);
    const text = await (await fetch(`${gate.admin}/metrics`)).text();
    const names = text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.slice(0, line.lastIndexOf(' ')));
    expect(names).toHaveLength(new Set(names).size);
    expect(await metric(gate.admin, 'coursegate_ready')).toBe(1);
    // Both see the breaker of an upstream closed: that is no 2.
    expect(await metric(gate.admin, 'coursegate_upstream_breaker_open{upstream="school"}')).toBe(0);
  });

  it('refresh and read at the same time, over many connections, and lose nothing', async () => {
    const held = await Promise.all([connected(), connected(), connected(), connected()]);
    await Promise.all(
      held.map(async (first) => {
        let { access_token, refresh_token } = first;
        for (let round = 0; round < 15; round += 1) {
          const renewed = await patiently(() => token(app, refreshForm(app, refresh_token), { connection: 'close' }));
          expect(renewed.status).toBe(200);
          ({ access_token, refresh_token } = renewed.body);
          const one = keptConnection(gate.origin);
          expect((await one.get('/api/v1/whoami', { authorization: `Bearer ${access_token}` })).status).toBe(200);
          one.close();
        }
      }),
    );
  });
});
