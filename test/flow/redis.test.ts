import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IN_TIME } from '../storage/failing-store.ts';
import { authorizationRequest, bearer, introspect, redeem, refresh, registerApp, revoke } from '../support/app.ts';
import { approve, SAM } from '../support/member.ts';
import { timeOf } from '../support/pace.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';

describe.skipIf(!redisPresent()).each([{ profile: 'A' }, { profile: 'B' }])(
  'a gate on Redis in Profile $profile',
  ({ profile }) => {
    let redis: RedisServer;
    let world: World;
    let replica: World;
    beforeAll(async () => {
      redis = await startRedis({ appendOnly: true });
      const shared = {
        profile,
        environment: { REDIS_URL: redis.url, COURSEGATE_SECRET: 'k'.repeat(32) },
      };
      const overrides = {
        store: { kind: 'redis', url: { env: 'REDIS_URL' } },
        secret: { env: 'COURSEGATE_SECRET' },
      };
      world = await startWorld({ ...shared, overrides });
      // The same origin on another port, as if a load balancer split the requests between the two.
      const upstreams = Object.fromEntries(Object.entries(world.school.urls).map(([name, url]) => [name, { url }]));
      replica = await startWorld({ ...shared, overrides: { ...overrides, origin: world.origin, upstreams } });
    });
    afterAll(async () => {
      await replica.close();
      await world.close();
      await redis.close();
    });

    const connect = async () => {
      const app = await registerApp(world.origin);
      const request = await authorizationRequest(app);
      const returned = await approve(request.url, app.redirectUri, { member: SAM });
      return { app, tokens: await redeem(app, request, returned) };
    };
    const courses = (gate: World, token: string) =>
      fetch(`${gate.origin}/api/v1/courses?per_page=2`, { headers: bearer(token) });
    const post = (gate: World, path: string, body: Record<string, string>) =>
      fetch(gate.origin + path, { method: 'POST', body: new URLSearchParams(body) });

    it('completes the main flow', async () => {
      const { app, tokens } = await connect();
      expect((await courses(world, tokens.access_token)).status).toBe(200);
      expect(await introspect(app, tokens.access_token)).toMatchObject({ active: true, sub: 'm-1001' });
      const renewed = await refresh(app, String(tokens.refresh_token));
      expect((await courses(world, renewed.access_token)).status).toBe(200);
      await revoke(app, String(renewed.refresh_token));
      expect((await courses(world, renewed.access_token)).status).toBe(401);
      expect(await introspect(app, tokens.access_token)).toEqual({ active: false });
    });

    it('revokes at every replica before cached decisions expire', async () => {
      const { app, tokens } = await connect();
      expect((await courses(replica, tokens.access_token)).status).toBe(200);
      await revoke(app, String(tokens.refresh_token));
      const status = async () => (await courses(replica, tokens.access_token)).status;
      // Less than the five seconds for which a decision is cached.
      await expect.poll(status, { interval: 20, timeout: 4000 }).toBe(401);
    });

    it('redeems one code once at two replicas', async () => {
      const app = await registerApp(world.origin);
      const request = await authorizationRequest(app);
      const returned = await approve(request.url, app.redirectUri, { member: SAM });
      const body = {
        grant_type: 'authorization_code',
        code: String(returned.searchParams.get('code')),
        redirect_uri: app.redirectUri,
        client_id: app.client.client_id,
        code_verifier: request.verifier,
        resource: app.resource,
      };
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) => post(at % 2 ? world : replica, '/api/oauth/token', body)),
      );
      const bodies = await Promise.all(answers.map((answer) => answer.json() as Promise<Record<string, string>>));
      const [given, ...others] = bodies.filter(({ error }) => error !== 'invalid_grant');
      expect(others).toEqual([]);
      const access_token = String(given?.access_token);
      expect((await post(replica, '/api/oauth/token', body)).status).toBe(400);
      for (const gate of [world, replica]) expect((await courses(gate, access_token)).status).toBe(200);
    });

    it('returns 503 for every credential while Redis is down, keeps them valid, and serves anonymous requests', async () => {
      const { app, tokens } = await connect();
      const renewal = {
        grant_type: 'refresh_token',
        refresh_token: String(tokens.refresh_token),
        client_id: app.client.client_id,
        resource: app.resource,
      };

      for (const [stop, goOn] of [
        [() => redis.kill(), () => redis.start()],
        [async () => redis.hang(), async () => redis.resume()],
      ] as const) {
        // Must be a token that was not used in the last seconds: a cached one would still be admitted.
        const unused = await connect();
        await stop();
        try {
          const asked: readonly (() => Promise<Response>)[] = [
            () => courses(world, unused.tokens.access_token),
            () => fetch(`${world.origin}/api/oauth/userinfo`, { headers: bearer(unused.tokens.access_token) }),
            () => post(world, '/api/oauth/token', renewal),
            () => post(world, '/api/oauth/revoke', { token: tokens.access_token, client_id: app.client.client_id }),
            () => fetch(app.server.registration_endpoint ?? '', registration(app.redirectUri)),
          ];
          for (const ask of asked) {
            const refused = async () => {
              const answer = await ask();
              const text = await answer.text();
              expect([answer.status, text]).toEqual([503, expect.not.stringMatching(/invalid_(grant|token|client)/)]);
              expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
            };
            expect(await timeOf(refused)).toBeLessThan(IN_TIME);
          }
          for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/jwks.json', '/']) {
            expect((await fetch(world.origin + path)).status).toBe(200);
          }
          const anonymous = await fetch(`${world.origin}/api/v1/courses?per_page=2`);
          expect(anonymous.status).toBe(profile === 'A' ? 401 : 200);
          expect((await fetch(`${world.admin}/livez`)).status).toBe(200);
          expect((await fetch(`${world.admin}/readyz`)).status).toBe(503);
        } finally {
          await goOn();
        }
        const status = async () => (await courses(world, unused.tokens.access_token)).status;
        await expect.poll(status, { interval: 20 }).toBe(200);
      }
      expect((await refresh(app, String(tokens.refresh_token))).access_token).toBeTruthy();
    });
  },
);

function registration(redirectUri: string): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Late App', redirect_uris: [redirectUri] }),
  };
}
