import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { School } from '../../src/operator/demo/school.ts';
import { type GateProcess, gateProcess, schoolOf } from '../faults/gate-process.ts';
import { type App, registerApp } from '../support/app.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { connect } from '../support/connection.ts';
import { OLU, SAM } from '../support/member.ts';
import { type RecordingUpstream, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { CALLERS, type Caller } from './support/callers.ts';

/** `npm run test:mcp-load` uses 200 clients with 50 calls each. */
const CLIENTS = Number(process.env.COURSEGATE_MCP_CLIENTS ?? 28);
const CALLS = Number(process.env.COURSEGATE_MCP_CALLS ?? 10);

const TOOLS = `tools:
  - name: read_thing
    title: Read
    description: For everybody.
    input: { properties: { canary: { type: string } }, required: [canary] }
    get: { upstream: echo, path: "/things/{canary}" }
  - name: read_mine
    title: Read mine
    description: For members.
    scopes: [account:read]
    input: { properties: { canary: { type: string } }, required: [canary] }
    get: { upstream: echo, path: "/members/{member.id}/things/{canary}" }
  - name: who_am_i
    title: Who am I
    description: By the Account API.
    scopes: [account:read]
    graphql: "{ viewer { id email } }"
    result: { id: /viewer/id, email: /viewer/email }
`;

const WHO = [
  { member: 'm-1001', email: SAM.login },
  { member: 'm-1002', email: OLU.login },
  { member: undefined, email: undefined },
] as const;

describe.skipIf(!redisPresent())('clients of two gates on one Redis that all use the same request IDs', () => {
  let folder: string;
  let redis: RedisServer;
  let balancer: Balancer;
  let school: School;
  let echo: RecordingUpstream;
  let gates: readonly [GateProcess, GateProcess];
  const tokens = new Map<string, readonly string[]>();
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-interleaved-'));
    writeFileSync(join(folder, 'tools.yaml'), TOOLS);
    redis = await startRedis({ appendOnly: true });
    balancer = await startBalancer();
    school = await schoolOf(balancer.origin);
    echo = await startRecordingUpstream(async (request, response, { values }) => {
      await sleep(Math.random() * 20);
      const [member = 'nobody'] = values('x-member-id');
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ member, target: request.url }));
    });
    const gate = () =>
      gateProcess({
        origin: balancer.origin,
        school,
        environment: {
          COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
          COURSEGATE__SECRET: '{ env: TEST_SECRET }',
          COURSEGATE__LISTEN__DRAIN: '{ notice: 3s, grace: 30s }',
          COURSEGATE__UPSTREAMS__ECHO__URL: echo.url,
          COURSEGATE__MCP: `{ file: ${join(folder, 'tools.yaml')} }`,
          REDIS_URL: redis.url,
          TEST_SECRET: 'k'.repeat(40),
        },
      });
    gates = [await gate(), await gate()];
    await Promise.all(gates.map((one) => one.start()));
    balancer.serve(gates);
    await Promise.all([balancer.seen(0, true), balancer.seen(1, true)]);
    const apps: App[] = [await registerApp(balancer.origin), await registerApp(balancer.origin)];
    for (const [member, login] of [
      ['m-1001', SAM],
      ['m-1002', OLU],
    ] as const) {
      const sets = [];
      for (const app of apps) sets.push(await connect(app, { member: login }));
      tokens.set(
        member,
        sets.map(({ access_token }) => access_token),
      );
    }
  });
  afterAll(async () => {
    await Promise.all((gates ?? []).map((gate) => gate.close()));
    await echo?.close();
    await school?.close();
    await balancer?.close();
    await redis?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /**
   * Makes its calls one after another and reports each response that belongs to another call. Returns how many were its
   * own.
   */
  async function play(number: number, wrong: unknown[], made: () => void): Promise<number> {
    const who = WHO[number % WHO.length] as (typeof WHO)[number];
    const token = who.member === undefined ? undefined : tokens.get(who.member)?.[number % 2];
    const connectAs = CALLERS[number % CALLERS.length] as (typeof CALLERS)[number];
    const caller = await connectAs(new URL(`${balancer.origin}/mcp`), token);
    let own = 0;
    for (let turn = 0; turn < CALLS; turn += 1) {
      const canary = `c${number}-${turn}`;
      const [got, expected] = await ask(caller, who, turn, canary);
      if (JSON.stringify(got) === JSON.stringify(expected)) own += 1;
      else wrong.push({ canary, got, expected });
      made();
    }
    await caller.close();
    return own;
  }

  async function ask(caller: Caller, { member, email }: (typeof WHO)[number], turn: number, canary: string) {
    if (turn % 5 === 3) {
      const names = member === undefined ? ['read_thing'] : ['read_thing', 'read_mine', 'who_am_i'];
      return [await caller.list(), names];
    }
    if (turn % 5 === 4 && member !== undefined) {
      return [(await caller.call('who_am_i', {})).structuredContent, { id: member, email }];
    }
    const open = member === undefined || turn % 5 === 2;
    const result = await caller.call(open ? 'read_thing' : 'read_mine', { canary });
    const target = open ? `/things/${canary}` : `/members/${member}/things/${canary}`;
    return [result.structuredContent ?? result, { member: open ? 'nobody' : member, target }];
  }

  it('each get only their own responses, even while one gate restarts', {
    timeout: 60_000 + CLIENTS * CALLS * 60,
  }, async () => {
    const wrong: unknown[] = [];
    const from = balancer.served.length;
    let made = 0;
    let third: () => void = () => {};
    const aThirdIsMade = new Promise<void>((resolve) => {
      third = resolve;
    });
    const all = Promise.all(
      Array.from({ length: CLIENTS }, (_, number) =>
        play(number, wrong, () => {
          made += 1;
          if (made * 3 >= CLIENTS * CALLS) third();
        }),
      ),
    );
    const restart = (async () => {
      await Promise.race([aThirdIsMade, all]);
      gates[0].signal('SIGTERM');
      await gates[0].exited();
      await gates[0].start();
      await balancer.seen(0, true);
    })();
    const own = await all;
    await restart;
    expect(wrong.slice(0, 5)).toEqual([]);
    expect(own).toEqual(Array.from({ length: CLIENTS }, () => CALLS));
    const replicas = new Set(balancer.served.slice(from).map(({ replica }) => replica));
    expect(replicas).toEqual(new Set([0, 1]));
  });

  it('are identified to the upstream by the gate, which never forwards their tokens', () => {
    const secrets = [...tokens.values()].flat();
    expect(secrets).toHaveLength(4);
    expect(echo.requests.length).toBeGreaterThan((CLIENTS * CALLS) / 2);
    for (const { rawHeaders, target } of echo.requests) {
      const sent = `${target}\n${rawHeaders.join('\n')}`;
      expect(secrets.some((secret) => sent.includes(secret))).toBe(false);
    }
  });
});
