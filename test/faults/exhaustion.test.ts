import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { connect as openSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, type TestContext, vi } from 'vitest';
import { registerApp } from '../support/app.ts';
import { approved, connect, refreshForm, statusOf, type Tokens, token } from '../support/connection.ts';
import { type GateProcess, gateProcess } from './gate-process.ts';
import { post } from './post.ts';

const WINDOW = { COURSEGATE__TOKENS__REPLAY_WINDOW: '60s' };

const gateWith = async (test: TestContext, environment: Record<string, string>): Promise<GateProcess> => {
  const gate = await gateProcess({ environment: { ...WINDOW, ...environment } });
  test.onTestFinished(() => gate.close());
  await gate.start();
  return gate;
};

it.concurrent('a gate that runs out of file descriptors keeps running, and serves again when there are some', {
  timeout: 240_000,
}, async (test) => {
  const gate = await gateWith(test, {});
  const app = await registerApp(gate.origin);
  const held = (await connect(app)) as unknown as Tokens;
  const { form } = await approved(app);
  const descriptors = () => readdirSync(`/proc/${gate.pid()}/fd`).length;
  const most = descriptors() + 10;
  execFileSync('prlimit', ['--pid', String(gate.pid()), `--nofile=${most}:`]);
  const { port } = new URL(gate.origin);
  const idle: Socket[] = Array.from({ length: 100 }, () => openSocket(Number(port), 'localhost'));
  for (const socket of idle) socket.on('error', () => undefined);
  await vi.waitUntil(() => descriptors() >= most - 1, { timeout: 10_000 });

  // New connections are closed or must wait. No client is told that a valid credential is invalid.
  const newcomer = post(String(app.server.token_endpoint), form);
  const outcome = await Promise.race([newcomer.outcome, sleep(1000).then(() => undefined)]);
  if (outcome?.kind === 'answered') expect([200, 503]).toContain(outcome.status);
  // Descriptors that were already open may have higher numbers.
  expect(descriptors()).toBeLessThan(most + 10);

  for (const socket of idle) socket.destroy();
  const served = () => statusOf(gate.origin, held.access_token).then((status) => status === 200);
  await vi.waitUntil(() => served().catch(() => false), { timeout: 10_000 });
  expect((await token(app, refreshForm(app, held.refresh_token))).status).toBe(200);
  expect((await token(app, form)).status).toBe(200);
  expect((await fetch(`${gate.admin}/readyz`)).status).toBe(200);
});

it.concurrent('a gate that runs out of memory during token requests exits with a message, and loses nothing', {
  timeout: 240_000,
}, async (test) => {
  // The test fills the memory until V8 aborts, in the middle of whatever the gate is doing.
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-hog-'));
  test.onTestFinished(() => rmSync(folder, { recursive: true }));
  const hog = join(folder, 'hog.cjs');
  writeFileSync(
    hog,
    "process.on('SIGUSR2', () => { const all = []; for (;;) all.push(new Array(100_000).fill(all)); });",
  );
  const gate = await gateWith(test, { NODE_OPTIONS: `--max-old-space-size=96 --require=${hog}` });
  const app = await registerApp(gate.origin);
  const held: Tokens[] = [];
  for (let at = 0; at < 4; at += 1) held.push((await connect(app)) as unknown as Tokens);
  const { form } = await approved(app);
  for (let round = 0; round < 3; round += 1) {
    const url = String(app.server.token_endpoint);
    const code = round === 0 ? [post(url, form)] : [];
    const sent = [...held.map(({ refresh_token }) => post(url, refreshForm(app, refresh_token))), ...code];
    await sleep(round * 7);
    gate.signal('SIGUSR2');
    const outcomes = await Promise.all(sent.map(({ outcome }) => outcome));
    expect(await gate.exited()).toBe('SIGABRT');
    expect(gate.log()).toContain('out of memory');
    await gate.kill();
    await gate.start();
    for (const [at, outcome] of outcomes.slice(0, held.length).entries()) {
      if (outcome.kind === 'answered') expect(outcome.status).toBe(200);
      const again = await token(app, refreshForm(app, held[at]?.refresh_token));
      expect(again.status).toBe(200);
      if (outcome.kind === 'answered') expect(again.body).toEqual(outcome.body);
      held[at] = again.body;
    }
    // The code counts as used if the gate stored that before it died, whether or not the answer arrived.
    if (round === 0) {
      const again = await token(app, form);
      const first = outcomes.at(-1);
      if (first?.kind === 'answered') expect([first.status, again.status]).toEqual([200, 400]);
      if (again.status !== 200) expect(again.body).toMatchObject({ error: 'invalid_grant' });
    }
  }
});

it.concurrent('a gate that is killed repeatedly during or after its start keeps its data, and leaves no files', {
  timeout: 240_000,
}, async (test) => {
  const gate = await gateWith(test, {});
  const app = await registerApp(gate.origin);
  const held = (await connect(app)) as unknown as Tokens;
  await gate.kill();
  const files = () => readdirSync(gate.data).toSorted();
  const before = files();
  const rounds = Number(process.env.COURSEGATE_FAULT_ROUNDS ?? 0) >= 100 ? 60 : 8;
  for (let at = 0; at < rounds; at += 1) {
    const started = gate.start().catch(() => undefined);
    const form = refreshForm(app, held.refresh_token);
    const asked = started.then(() => token(app, form).catch(() => undefined));
    await Promise.race([started, sleep(100 + (at % 8) * 150)]);
    await sleep(Math.random() * 30);
    await gate.kill();
    const answer = await asked;
    if (answer !== undefined) expect(answer.status).toBe(200);
  }
  // Only the write-ahead log is created and deleted.
  const lasting = (names: string[]) => names.filter((name) => !/-(wal|shm|journal)$/.test(name));
  expect(lasting(files())).toEqual(lasting(before));
  expect(files().length).toBeLessThanOrEqual(before.length + 3);
  await gate.start();
  expect(await statusOf(gate.origin, held.access_token)).toBe(200);
  const next = await token(app, refreshForm(app, held.refresh_token));
  expect(next.status).toBe(200);
  expect((await token(app, refreshForm(app, next.body.refresh_token))).status).toBe(200);
});
