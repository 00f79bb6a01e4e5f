import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type GateProcess, gateProcess, schoolOf } from '../faults/gate-process.ts';
import { authorizationRequest, bearer, redeem, refresh, registerApp, revoke } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { approve, SAM } from '../support/member.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';

/** Sends a request on its own connection, so that the kernel chooses a gate each time. */
const alone = (headers: Record<string, string> = {}) => ({ headers: { ...headers, connection: 'close' } });

describe.skipIf(!redisPresent())('two gates that share a port (listen.reusePort)', () => {
  let redis: RedisServer;
  let first: GateProcess;
  let second: GateProcess;
  let school: Awaited<ReturnType<typeof schoolOf>>;

  beforeAll(async () => {
    redis = await startRedis();
    const environment = {
      REDIS_URL: redis.url,
      COURSEGATE_SECRET: 's'.repeat(32),
      COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
      COURSEGATE__SECRET: '{ env: COURSEGATE_SECRET }',
      COURSEGATE__LISTEN__REUSE_PORT: 'true',
    };
    // The origin is known only once the first gate has a port.
    const probe = await gateProcess();
    const { origin } = probe;
    await probe.close();
    school = await schoolOf(origin);
    const port = new URL(origin).port;
    const gate = () => gateProcess({ origin, school, environment: { ...environment, PORT: port } });
    [first, second] = [await gate(), await gate()];
    await Promise.all([first.start(), second.start()]);
  });
  afterAll(async () => {
    await first?.close();
    await second?.close();
    await school?.close();
    await redis?.close();
  });

  const connect = async () => {
    const app = await registerApp(first.origin);
    const request = await authorizationRequest(app);
    const returned = await approve(request.url, app.redirectUri, { member: SAM });
    return { app, tokens: await redeem(app, request, returned) };
  };
  const courses = (token: string) => fetch(`${first.origin}/api/v1/courses?per_page=1`, alone(bearer(token)));
  const served = async (gate: GateProcess) => {
    const text = await (await fetch(`${gate.admin}/metrics`)).text();
    const counts = [...text.matchAll(/^coursegate_http_request_duration_seconds_count\{.*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  };

  it('both receive requests, and a connection works at either', async () => {
    const { tokens } = await connect();
    const statuses = new Set<number>();
    for (let at = 0; at < 60; at += 1) statuses.add((await courses(tokens.access_token)).status);
    expect([...statuses]).toEqual([200]);
    expect(await served(first)).toBeGreaterThan(0);
    expect(await served(second)).toBeGreaterThan(0);
  });

  it('refuse a token at both after it was revoked at one, before cached decisions expire', async () => {
    const { app, tokens } = await connect();
    expect((await courses(tokens.access_token)).status).toBe(200);
    await revoke(app, String(tokens.refresh_token));
    const all = async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => courses(tokens.access_token)));
      return [...new Set(answers.map(({ status }) => status))];
    };
    // Less than the five seconds for which a decision is cached.
    await expect.poll(all, { interval: 20, timeout: 4000 }).toEqual([401]);
  });

  it('can be restarted one after the other without losing a connection', async () => {
    const { app, tokens } = await connect();
    let token = String(tokens.refresh_token);
    for (const gate of [first, second]) {
      gate.signal('SIGTERM');
      expect(await gate.exited()).toBe(0);
      const renewed = await refresh(app, token);
      expect((await courses(renewed.access_token)).status).toBe(200);
      token = String(renewed.refresh_token);
      await gate.start();
      expect((await fetch(`${gate.admin}/readyz`)).status).toBe(200);
    }
  });
});

describe('a shared port', () => {
  it('is refused with an embedded store, by file and line', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'coursegate-reuse-port-'));
    const file = join(folder, 'coursegate.yaml');
    const lines = [
      'version: 1',
      'profile: B',
      'origin: http://localhost:8080',
      'listen: { reusePort: true }',
      'store: { kind: sqlite, path: ./gate.db }',
      'login: { kind: header, upstream: school, header: X-User }',
      'upstreams: { school: { url: "http://127.0.0.1:4000" } }',
    ];
    writeFileSync(file, lines.join('\n'));
    const check = runCommand(['check', file]);
    expect(await check.exited).toBe(78);
    expect(check.stderr()).toContain('coursegate.yaml:4:');
    expect(check.stderr()).toMatch(
      /listen\.reusePort: needs a store that replicas share, such as `store: \{ kind: redis \}`: an embedded store belongs to one process/,
    );
    rmSync(folder, { recursive: true });
  });
});
