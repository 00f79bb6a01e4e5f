import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_SECRET } from '../support/commands.ts';
import { operate, runToEnd } from '../support/operator.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { freePort, startWorld, type World } from '../support/world.ts';

const ADMIN = { hmac: { secret: { env: 'COMMAND_SECRET' } } };

describe('the health check', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ profile: 'A', environment: { COMMAND_SECRET }, overrides: { admin: ADMIN } });
  });
  afterAll(() => world.close());

  it('lists each check as text and as JSON', async () => {
    const ready = await fetch(`${world.admin}/readyz?verbose`);
    expect(ready.status).toBe(200);
    expect(await ready.text()).toMatch(
      /^\[\+\]config ok: \d+ routes, profile A\n\[\+\]store ok: sqlite\n\[\+\]keys ok: \S{43} signs\n\[\+\]drain ok: [^\n]+\nreadyz check passed\n$/,
    );
    const json = await fetch(`${world.admin}/readyz?verbose`, { headers: { accept: 'application/json' } });
    expect(json.headers.get('content-type')).toBe('application/json');
    expect(await json.json()).toMatchObject({
      ok: true,
      checks: [
        { name: 'config', ok: true },
        { name: 'store', ok: true },
        { name: 'keys', ok: true },
        { name: 'drain', ok: true },
      ],
    });
    const live = await fetch(`${world.admin}/livez?verbose`);
    expect(await live.text()).toMatch(/^\[\+\]process ok: runs for \d+ s\nlivez check passed\n$/);
    // Who does not ask for it is told one word, as probes are.
    expect(await (await fetch(`${world.admin}/readyz`)).text()).toBe('ok\n');
  });

  it('is printed by the command, which exits 0 when all is well', async () => {
    const { code, stdout, stderr } = await operate(world, 'health');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\[\+\]config ok[\s\S]*readyz check passed\n$/);
    const live = await runToEnd(['health', '--live', '--json', '--admin', world.admin]);
    expect(live.code).toBe(0);
    expect(JSON.parse(live.stdout)).toEqual({
      ok: true,
      checks: [{ name: 'process', ok: true, detail: expect.stringMatching(/^runs for \d+ s$/) }],
    });
  });

  it('exits 69 when no gate responds', async () => {
    const { code, stdout, stderr } = await runToEnd(['health', '--admin', `http://127.0.0.1:${await freePort()}`]);
    expect([code, stdout]).toEqual([69, '']);
    expect(stderr).toMatch(/^No gate answers at http:[\s\S]*\nTry: npx coursegate health --help\n$/);
  });
});

describe.skipIf(!redisPresent())('the health check with an unavailable store', () => {
  let redis: RedisServer;
  let world: World;
  beforeAll(async () => {
    redis = await startRedis();
    world = await startWorld({
      profile: 'A',
      environment: { REDIS_URL: redis.url, SEALING: 'a secret of at least thirty-two bytes, for tests' },
      overrides: { store: { kind: 'redis', url: { env: 'REDIS_URL' } }, secret: { env: 'SEALING' } },
    });
  });
  afterAll(async () => {
    await world.close();
    await redis.close();
  });

  it('names the failed check and exits 1, while the process itself is alive', async () => {
    expect((await runToEnd(['health', '--admin', world.admin])).stdout).toContain('[+]store ok: redis\n');
    await redis.kill();
    const ask = () => runToEnd(['health', '--admin', world.admin]);
    // The store is probed at most once a second.
    await expect.poll(async () => (await ask()).code, { timeout: 10_000 }).toBe(1);
    const { stdout, stderr } = await ask();
    expect(stdout).toContain('[-]store failed: the store cannot be used; the log says why\n');
    expect(stdout).toContain('[+]keys ok');
    expect(stdout).toMatch(/readyz check failed\n$/);
    expect(stderr).toMatch(/^The gate at \S+ is not ready\.\nTry: npx coursegate health --admin \S+ --json\n$/);
    expect((await runToEnd(['health', '--live', '--admin', world.admin])).code).toBe(0);
  });
});
