import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, authorizationRequest, introspect, redeem, refresh, registerApp } from '../support/app.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { connect, statusOf } from '../support/connection.ts';
import { offeredScopes, reachConsent } from '../support/member.ts';
import { operate, runToEnd } from '../support/operator.ts';
import { startRecordingUpstream } from '../support/recording-upstream.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

const ADMIN = { hmac: { secret: { env: 'COMMAND_SECRET' } } };
const STORES = [{ store: 'sqlite' }, ...(redisPresent() ? [{ store: 'redis' }] : [])] as const;

describe.each(STORES)('a rotation of the secret, with a store in $store', ({ store }) => {
  let redis: RedisServer | undefined;
  let world: World;
  let app: App;
  const named = (secret: string, ...further: readonly string[]) => ({
    admin: ADMIN,
    secret: { env: secret },
    furtherSecrets: further.map((env) => ({ env })),
    ...(redis === undefined ? {} : { store: { kind: 'redis', url: { env: 'REDIS_URL' } } }),
  });
  beforeAll(async () => {
    redis = store === 'redis' ? await startRedis() : undefined;
    world = await startWorld({
      profile: 'A',
      environment: { COMMAND_SECRET, REDIS_URL: redis?.url ?? '', OLD: 'o'.repeat(32), NEW: 'n'.repeat(32) },
      overrides: named('OLD'),
    });
    app = await registerApp(world.origin, { confidential: true });
  });
  afterAll(async () => {
    await world.close();
    await redis?.close();
  });

  /** What is under way and what is kept: made now, and used later. */
  const begin = async () => {
    const tokens = await connect(app);
    const request = await authorizationRequest(app);
    return { tokens, request, consent: await reachConsent(request.url) };
  };
  const works = async ({ tokens }: Pick<Awaited<ReturnType<typeof begin>>, 'tokens'>) => {
    expect(await statusOf(world.origin, tokens.access_token)).toBe(200);
    // By its secret, which is in the store.
    expect((await introspect(app, tokens.access_token)).active).toBe(true);
    const renewed = await refresh(app, String(tokens.refresh_token));
    expect(await statusOf(world.origin, renewed.access_token)).toBe(200);
  };
  const decide = ({ consent }: Awaited<ReturnType<typeof begin>>) =>
    consent.browser.submit(
      consent.page,
      { decision: 'approve', scope: offeredScopes(consent.page) },
      (location) => !location.startsWith(app.redirectUri),
    );
  const goesOn = async (begun: Awaited<ReturnType<typeof begin>>) => {
    await works(begun);
    const last = await decide(begun);
    const redeemed = await redeem(app, begun.request, new URL(String(last.location)));
    expect(await statusOf(world.origin, redeemed.access_token)).toBe(200);
  };

  it('loses nothing with the new secret second, first, and alone after resealing', async () => {
    const kids = async () => (await (await fetch(`${world.origin}/.well-known/jwks.json`)).json()) as object;
    const keys = await kids();
    const [first, second, third] = [await begin(), await begin(), await begin()];
    await world.restart(named('OLD', 'NEW'));
    await goesOn(first);
    const under = await begin();
    await world.restart(named('NEW', 'OLD'));
    await goesOn(second);
    await goesOn(under);
    const early = await begin();

    const resealed = await operate(world, 'secret', 'reseal', '--json');
    expect(resealed.code).toBe(0);
    const { resealed: sealed, unreadable } = JSON.parse(resealed.stdout);
    expect(sealed).toBeGreaterThan(10);
    expect(unreadable).toBe(0);
    expect(JSON.parse((await operate(world, 'secret', 'reseal', '--json')).stdout).resealed).toBe(0);

    await world.restart(named('NEW'));
    await works(third);
    await goesOn(early);
    // What the old secret signed ends with it: a page that a member has had open since before the rotation.
    expect((await decide(third)).status).toBe(400);
    expect(await kids()).toEqual(keys);
  });

  it('does not start with a secret that the store was not sealed with', async () => {
    await expect(world.restart(named('OLD'))).rejects.toThrow(/sealed with a secret that is not configured/);
    await world.restart(named('NEW')).catch(() => {});
    expect((await fetch(`${world.admin}/readyz`)).status).toBe(200);
  });
});

it('the secret file of a SQLite store gets a line in a rotation, and loses one after resealing', async () => {
  const world = await startWorld({ profile: 'A', environment: { COMMAND_SECRET }, overrides: { admin: ADMIN } });
  try {
    const secrets = () => readFileSync(join(world.data, 'coursegate.secret'), 'utf8').trim().split('\n');
    const app = await registerApp(world.origin);
    const tokens = await connect(app);
    const [old] = secrets();
    const rotated = await runToEnd(['secret', 'rotate', '--config', 'config/coursegate.yaml'], {
      COURSEGATE_DATA: world.data,
    });
    expect([rotated.code, rotated.stderr]).toEqual([0, expect.stringMatching(/secret reseal --config/)]);
    expect(secrets()).toEqual([expect.stringMatching(/^[\w-]{43}$/), old]);
    expect(secrets()[0]).not.toBe(old);
    await world.restart();
    expect(await statusOf(world.origin, tokens.access_token)).toBe(200);
    const retired = await operate(world, 'secret', 'retire');
    expect([retired.code, retired.stdout]).toEqual([0, expect.stringMatching(/^Removed 1 old secrets from /)]);
    expect(secrets()).toHaveLength(1);
    await world.restart();
    expect((await refresh(app, String(tokens.refresh_token))).access_token).toBeTruthy();
    expect((await command(world.admin, '/store/reseal', { secret: 'wrong' })).status).toBe(401);
  } finally {
    await world.close();
  }
});

it('resealing stops with the reason when another replica keeps writing with another secret', async () => {
  const step = { resealed: 1, unreadable: 0, looked: 1, total: 1 };
  const admin = await startRecordingUpstream((_request, response) => void response.end(JSON.stringify(step)));
  const { code, stderr } = await operate({ admin: admin.url, data: tmpdir() }, 'secret', 'reseal');
  await admin.close();
  expect([code, stderr.split('\n').slice(-4)]).toEqual([
    1,
    [
      'Another replica still encrypts with a different secret.',
      'Every replica must have the same first secret before the others can be removed.',
      'Try: npx coursegate secret reseal --help',
      '',
    ],
  ]);
  expect(admin.requests).toHaveLength(5);
});
