import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { School } from '../../src/operator/demo/school.ts';
import { type App, introspect, postForm, registerApp } from '../support/app.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { COMMAND_SECRET, command } from '../support/commands.ts';
import { approved, connect, read, refreshForm, type Tokens, token } from '../support/connection.ts';
import { proofKey, proven, signProof } from '../support/proof.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { type GateProcess, gateProcess, schoolOf } from './gate-process.ts';
import { patiently } from './patiently.ts';

type Form = Record<string, string | undefined>;
type TokenBody = Tokens & { error?: string };

describe.skipIf(!redisPresent()).each([{ window: '60s' }, { window: '0s' }])(
  'two gate processes on one Redis, with a replay window of $window,',
  ({ window }) => {
    let redis: RedisServer;
    let balancer: Balancer;
    let school: School;
    let gates: readonly [GateProcess, GateProcess];
    let app: App;
    beforeAll(async () => {
      redis = await startRedis({ appendOnly: true });
      balancer = await startBalancer();
      school = await schoolOf(balancer.origin);
      const gate = () =>
        gateProcess({
          origin: balancer.origin,
          school,
          environment: {
            COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
            COURSEGATE__SECRET: '{ env: TEST_SECRET }',
            COURSEGATE__ADMIN__HMAC__SECRET__ENV: 'COMMAND_SECRET',
            COMMAND_SECRET,
            COURSEGATE__TOKENS__REPLAYWINDOW: window,
            COURSEGATE__LISTEN__DRAIN: '{ notice: 1s, grace: 30s }',
            REDIS_URL: redis.url,
            TEST_SECRET: 'k'.repeat(40),
          },
        });
      gates = [await gate(), await gate()];
      await Promise.all(gates.map((one) => one.start()));
      balancer.serve(gates);
      await Promise.all([balancer.seen(0, true), balancer.seen(1, true)]);
      app = await registerApp(balancer.origin);
    });
    afterAll(async () => {
      await Promise.all(gates.map((gate) => gate.close()));
      await school.close();
      await balancer.close();
      await redis.close();
    });

    /** Sends a token request directly to gate 0 or 1. */
    const at = async (number: number, form: Form, headers: Record<string, string> = {}) =>
      patiently(async () =>
        read<TokenBody>(await postForm(`${gates[number]?.listens}/api/oauth/token`, form, headers)),
      );
    const both = (times: number, form: Form) =>
      Promise.all(Array.from({ length: times }, (_, number) => at(number % 2, form)));
    const whoami = async (number: number, headers: Record<string, string>) =>
      (await fetch(`${gates[number]?.listens}/api/v1/whoami`, { headers })).status;
    const connected = async () => (await connect(app)) as unknown as Tokens;

    /** The tokens of the only set that was given, to `times` requests. */
    const oneSet = (answers: readonly { status: number; body: TokenBody }[], times: number): TokenBody => {
      const given = answers.filter(({ status }) => status === 200);
      const refused = answers.filter(({ status }) => status !== 200);
      expect(new Set(given.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      for (const { status, body } of refused) expect([status, body.error]).toEqual([400, 'invalid_grant']);
      expect(given).toHaveLength(times);
      return given[0]?.body as TokenBody;
    };

    it('give exactly one set of tokens for a code redeemed 50 times at once', async () => {
      for (let round = 0; round < 5; round += 1) {
        const { form } = await approved(app);
        const set = oneSet(await both(50, form), 1);
        if (window === '0s') continue;
        expect((await introspect(app, set.access_token)).active).toBe(true);
        expect((await at(round % 2, refreshForm(app, set.refresh_token))).status).toBe(200);
      }
    });

    it('give exactly one successor for a refresh token used 20 times at once', async () => {
      for (let round = 0; round < 5; round += 1) {
        const first = await connected();
        const next = oneSet(await both(20, refreshForm(app, first.refresh_token)), window === '0s' ? 1 : 20);
        if (window === '0s') continue;
        expect(await whoami(round % 2, { authorization: `Bearer ${next.access_token}` })).toBe(200);
        expect((await at(round % 2, refreshForm(app, next.refresh_token))).status).toBe(200);
        // The previous token now counts as reused at every replica.
        expect((await at((round + 1) % 2, refreshForm(app, first.refresh_token))).body.error).toBe('invalid_grant');
        await expect.poll(() => whoami(round % 2, { authorization: `Bearer ${next.access_token}` })).toBe(401);
      }
    });

    it('refuse a code at one that was redeemed at the other, without effect within the window', async () => {
      const { form } = await approved(app);
      const first = await at(0, form);
      expect(first.status).toBe(200);
      expect(await at(1, form)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
      expect((await introspect(app, first.body.access_token)).active).toBe(window !== '0s');
    });

    it('continue a sign-in at either replica at each step', async () => {
      const from = balancer.served.length;
      const tokens = await connected();
      const steps = balancer.served.slice(from).filter(({ path }) => path.startsWith('/oauth/'));
      expect(new Set(steps.map(({ replica }) => replica))).toEqual(new Set([0, 1]));
      expect(steps.filter(({ path }) => path.startsWith('/oauth/interaction')).length).toBeGreaterThan(1);
      for (const number of [0, 1]) {
        expect(await whoami(number, { authorization: `Bearer ${tokens.access_token}` })).toBe(200);
      }
    });

    it('accept a DPoP nonce of the other, and refuse a proof used at the other', async () => {
      const key = await proofKey();
      const url = `${balancer.origin}/api/oauth/token`;
      const claims = { htm: 'POST', htu: url };
      const { form } = await approved(app);
      const late = Math.floor(Date.now() / 1000) - 3600;
      const offered = await at(0, form, { dpop: await signProof(key, { ...claims, iat: late }) });
      expect(offered).toMatchObject({ status: 400, body: { error: 'use_dpop_nonce' } });
      const nonce = offered.headers.get('dpop-nonce');
      const proof = await signProof(key, { ...claims, iat: late, nonce });
      const bound = await at(1, form, { dpop: proof });
      expect(bound).toMatchObject({ status: 200, body: { token_type: 'DPoP' } });
      expect((await at(0, form, { dpop: proof })).body.error).toBe('invalid_dpop_proof');

      const resource = `${balancer.origin}/api/v1/whoami`;
      const headers = await proven(key, bound.body.access_token, 'GET', resource);
      expect(await whoami(0, headers)).toBe(200);
      expect(await whoami(1, headers)).toBe(401);
      expect(await whoami(1, await proven(key, bound.body.access_token, 'GET', resource))).toBe(200);
    });

    it.runIf(window !== '0s')('adopt a key rotation of the other', async () => {
      const keysAt = async (number: number) => {
        const answer = await fetch(`${gates[number]?.listens}/.well-known/jwks.json`);
        const { keys } = (await answer.json()) as { keys: { kid: string }[] };
        return keys.map(({ kid }) => kid);
      };
      const before = await keysAt(1);
      expect(await keysAt(0)).toEqual(before);
      expect((await command(gates[0].admin, '/keys/rotate', { body: '{"now":true}' })).status).toBe(200);
      const after = await keysAt(0);
      // The active key was published before, so verifiers with either set can verify.
      expect(before).toContain(after[0]);
      expect(after).not.toEqual(before);
      await expect.poll(() => keysAt(1), { timeout: 50_000, interval: 200 }).toEqual(after);
    });

    it.runIf(window !== '0s')('rotate nothing twice and honour no revoked token after one was suspended', async () => {
      const [first, cut] = [await connected(), await connected()];
      const shown = { authorization: `Bearer ${cut.access_token}` };
      expect(await whoami(0, shown)).toBe(200);
      gates[0].signal('SIGSTOP');
      let pending: ReturnType<typeof at>;
      let answered: Awaited<ReturnType<typeof at>>;
      try {
        pending = at(0, refreshForm(app, first.refresh_token));
        answered = await at(1, refreshForm(app, first.refresh_token));
        const form = { client_id: app.client.client_id, token: cut.refresh_token };
        expect((await postForm(`${gates[1].listens}/api/oauth/revoke`, form)).status).toBe(200);
      } finally {
        gates[0].signal('SIGCONT');
      }
      expect(answered.status).toBe(200);
      expect(await pending).toMatchObject({ status: 200, body: answered.body });
      // Less than the five seconds for which a decision is cached.
      await expect.poll(() => whoami(0, shown), { interval: 20, timeout: 4_000 }).toBe(401);
      expect((await at(0, refreshForm(app, answered.body.refresh_token))).status).toBe(200);
    });

    it.runIf(window !== '0s')('lose no request when they are restarted one after the other under load', async () => {
      const failures: string[] = [];
      let requests = 0;
      let going = true;
      const must = (what: string, status: number, expected: number, detail: unknown) => {
        requests += 1;
        if (status !== expected) failures.push(`${what}: ${status} ${JSON.stringify(detail)}`);
      };
      const client = async () => {
        let { access_token, refresh_token } = await connected();
        while (going) {
          const headers = { authorization: `Bearer ${access_token}` };
          const answer = await patiently(() => fetch(`${balancer.origin}/api/v1/courses`, { headers }));
          must('read', answer.status, 200, await answer.text());
          const renewed = await patiently(() => token(app, refreshForm(app, refresh_token)));
          must('refresh', renewed.status, 200, renewed.body);
          if (renewed.status !== 200) return;
          ({ access_token, refresh_token } = renewed.body);
        }
      };
      const newcomer = async () => {
        while (going) {
          const answered = await approved(app).catch((error: unknown) => String(error));
          // Pages do not retry by themselves.
          if (typeof answered === 'string' && /\b503\b/.test(answered)) continue;
          if (typeof answered === 'string') must('sign-in', 0, 200, answered);
          else {
            const { status, body } = await patiently(() => token(app, answered.form));
            must('redeem', status, 200, body);
          }
        }
      };
      const load = [client(), client(), client(), client(), newcomer()];
      try {
        for (const number of [0, 1]) {
          const gate = gates[number] as GateProcess;
          await expect.poll(() => requests, { timeout: 30_000 }).toBeGreaterThan(20 * (number + 1));
          gate.signal('SIGTERM');
          expect(await gate.exited()).toBe(0);
          await gate.start();
          await balancer.seen(number, true);
        }
        const enough = requests + 20;
        await expect.poll(() => requests, { timeout: 30_000 }).toBeGreaterThan(enough);
      } finally {
        going = false;
        await Promise.all(load);
      }
      process.stdout.write(`two restarts under load: ${requests} requests, ${failures.length} failed\n`);
      expect(failures).toEqual([]);
    });
  },
);
