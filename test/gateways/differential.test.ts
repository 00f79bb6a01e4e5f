import { afterAll, beforeAll, expect, it } from 'vitest';
import { revoke } from '../support/app.ts';
import { proofKey } from '../support/proof.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import type { StrictAnswer } from '../support/strict-http.ts';
import { ask } from './support/ask.ts';
import { asRead, flawsOf } from './support/backend-view.ts';
import { ADMITTED_ANSWERS, CASES, type Case, DIFFERENCES, FORWARDED_BY_US } from './support/cases.ts';
import { comparedAnswer, comparedRequest } from './support/compared.ts';
import type { RunningGateway } from './support/gateway-kind.ts';
import { describeKinds, KINDS } from './support/kinds.ts';
import { type PluginWorld, startPluginWorld } from './support/plugin-world.ts';
import { type Tokens, tokensFor } from './support/tokens.ts';

/** The gate as a proxy, or a gateway that asks it. */
interface Way {
  readonly port: number;
  /** The address that its requests come from. */
  readonly from: string;
  readonly tokens: Tokens;
}

/** What backends with `identity: [assertion]` do not get. */
const PLAIN_IDENTITY = ['x-member-id', 'x-member-email', 'x-member-name', 'x-member-scope', 'x-client-id'];

let redis: RedisServer | undefined;
let world: PluginWorld;

beforeAll(async () => {
  redis = redisPresent() ? await startRedis({ appendOnly: true }) : undefined;
  world = await startPluginWorld({ redis: redis?.url });
  // What a backend should not tell clients on a protected path, and what only the gate may say.
  const answer = (status: string) =>
    `HTTP/1.1 ${status}\r\nContent-Length: 11\r\nContent-Type: application/json\r\nSet-Cookie: a=b\r\nWWW-Authenticate: Basic\r\nAccess-Control-Allow-Origin: https://evil.test\r\nX-Member-Id: evil\r\n\r\n`;
  world.backend.script(({ method, target }, socket) => {
    const head = answer(target.endsWith('/unauthorized') ? '401 Unauthorized' : '200 OK');
    socket.write(method === 'HEAD' ? head : `${head}{"ok":true}`);
  });
});
afterAll(async () => {
  await world.close();
  await redis?.close();
});

/** Sends the requests of a case in one way. Returns the answers, and what the backend received. */
async function outcome({ requests }: Case, { port, from, tokens }: Way) {
  world.backend.take();
  const answers: StrictAnswer[] = [];
  for (const request of await requests(tokens, world))
    answers.push(await ask(port, { host: world.host, from, ...request }));
  const seen = world.backend.take();
  return { answers, seen };
}

describeKinds(KINDS, '$name', (kind, at) => {
  let gateway: RunningGateway;
  let asProxy: Way;
  let asked: Way;
  beforeAll(async () => {
    gateway = await world.gateway(kind);
    const tokens = await tokensFor(world, kind.name, await proofKey());
    const { access_token: limited } = await world.connect(`m-beside-${kind.name}`);
    asProxy = { port: world.gatePort, from: `127.0.1.${at + 1}`, tokens: { ...tokens, limited } };
    asked = { port: world.port, from: `127.0.2.${at + 1}`, tokens };
  });
  afterAll(() => gateway?.close());

  it.each(CASES)('gives the same answer, and the backend the same request: $name', async (one) => {
    const expected = await outcome(one, asProxy);
    const actual = await outcome(one, asked);
    expect(expected.answers.map(({ status }) => status)).toEqual(one.statuses);
    const flaws = actual.seen.flatMap((request) =>
      flawsOf(asRead(kind, request), world.origin, ['m-1', `m-${kind.name}`]),
    );
    expect(flaws).toEqual([]);
    const { why, status, seen = 0, fields = [] } = one.differs ?? DIFFERENCES[kind.server]?.[one.name] ?? {};
    if (status !== undefined) {
      for (const answer of actual.answers) expect(status, why).toContain(answer.status);
      expect(actual.seen).toHaveLength(seen);
      return;
    }
    const admitted = ADMITTED_ANSWERS[kind.server];
    expect(actual.answers.map(comparedAnswer)).toEqual(
      expected.answers.map(comparedAnswer).map((answer) => ({
        ...answer,
        fields: { ...answer.fields, ...(answer.status === 200 && one.name !== FORWARDED_BY_US ? admitted : {}) },
      })),
    );
    const unread = kind.assertionOnly === true ? PLAIN_IDENTITY : [];
    const before = expected.seen.map((request) => comparedRequest(request, asProxy.from, unread));
    const sameMember = JSON.stringify(before).replaceAll(`m-beside-${kind.name}`, `m-${kind.name}`);
    const after = actual.seen.map((request) => comparedRequest(request, asked.from, [...unread, ...fields]));
    expect(after).toEqual(JSON.parse(sameMember));
  });

  it('refuses a token after its revocation, before cached decisions expire', async () => {
    const { app, access_token } = await world.connect('m-1');
    const status = async () =>
      (
        await ask(world.port, {
          host: world.host,
          target: '/member/x',
          fields: [`Authorization: Bearer ${access_token}`],
        })
      ).status;
    expect(await status()).toBe(200);
    await revoke(app, access_token);
    // Less than the five seconds for which a decision is cached.
    await expect.poll(status, { timeout: 4_000, interval: 50 }).toBe(401);
  });

  it('refuses an expired token as the gate does', async () => {
    const { access_token } = await world.connect('m-1');
    const answers = async () => {
      const request = { host: world.host, target: '/member/x', fields: [`Authorization: Bearer ${access_token}`] };
      return [await ask(world.port, request), await ask(world.gatePort, request)].map(comparedAnswer);
    };
    expect((await answers()).map(({ status }) => status)).toEqual([200, 200]);
    world.time.ahead = 24 * 3_600_000;
    try {
      const [one, other] = await answers();
      expect(one).toEqual(other);
      expect(one?.status).toBe(401);
      expect(one?.fields['www-authenticate']).toEqual([expect.stringContaining('invalid_token')]);
    } finally {
      world.time.ahead = 0;
    }
  });

  it.skipIf(!redisPresent())('gives the same 503 while the store is down', async () => {
    const unknown = { host: world.host, target: '/member/x', fields: [`Authorization: Bearer ${'y'.repeat(43)}`] };
    world.backend.take();
    await redis?.kill();
    try {
      const [one, other] = await Promise.all([ask(world.port, unknown), ask(world.gatePort, unknown)]);
      expect(one.status).toBe(503);
      const { body, ...rest } = comparedAnswer(other);
      const expected = kind.writesUnavailable === true ? { ...(body as object), trace: undefined } : body;
      expect(comparedAnswer(one)).toEqual({ ...rest, body: expected });
      expect(comparedAnswer(one)).toMatchObject({
        fields: { 'retry-after': ['N'] },
        body: { code: 'store_unavailable' },
      });
      expect(world.backend.take()).toEqual([]);
    } finally {
      await redis?.start();
      // The gate connects again.
      const status = async () => (await ask(world.gatePort, unknown)).status;
      await expect.poll(status, { timeout: 10_000, interval: 50 }).toBe(401);
    }
  });
});
