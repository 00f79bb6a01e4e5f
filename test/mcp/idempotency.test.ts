import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/operations/log.ts';
import type { School } from '../../src/operator/demo/school.ts';
import { type GateProcess, gateProcess, schoolOf } from '../faults/gate-process.ts';
import { registerApp } from '../support/app.ts';
import { type Balancer, startBalancer } from '../support/balancer.ts';
import { connect } from '../support/connection.ts';
import { OLU } from '../support/member.ts';
import { type RecordingUpstream, type Script, startRecordingUpstream } from '../support/recording-upstream.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';
import { startWorld, type World } from '../support/world.ts';
import { ask, askModern, call, tokenOf } from './support/mcp.ts';

const string = { type: 'string' };
const about = { title: 'T', description: 'D' };
const TOOLS = [
  {
    ...about,
    name: 'enrol',
    scopes: ['courses:write'],
    input: { properties: { course: string, note: string }, required: ['course'] },
    route: 'POST /enrolments/{course}',
  },
  {
    ...about,
    name: 'own_rule',
    scopes: ['courses:write'],
    input: { properties: { course: string, idempotencyKey: string }, required: ['course'] },
    route: 'POST /enrolments/{course}',
  },
  {
    ...about,
    name: 'suggest',
    input: { properties: { course: string }, required: ['course'] },
    route: 'POST /open/{course}',
  },
  { ...about, name: 'look', get: { upstream: 'school', path: '/look' } },
];
const ROUTES = [
  { match: 'POST /enrolments/*', upstream: 'school', scopes: ['courses:write'] },
  { match: 'POST /open/*', upstream: 'school', scopes: [], anonymous: 'serve' },
];

/** Counts calls, so that no two responses are alike. */
let number = 0;
const enrolling: Script = async (_request, response, { whole }) => {
  await whole;
  number += 1;
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ enrolment: `secret-${number}` }));
};
const refusing =
  (status: number): Script =>
  async (_request, response, { whole }) => {
    await whole;
    response.writeHead(status).end();
  };

describe('a call with an idempotency key', () => {
  let world: World;
  let school: RecordingUpstream;
  let token: string;
  let sameMember: string;
  let other: string;
  let folder: string;
  let late = 0;
  beforeAll(async () => {
    school = await startRecordingUpstream(enrolling);
    folder = mkdtempSync(join(tmpdir(), 'coursegate-once-'));
    world = await startWorld({
      profile: 'A',
      clock: () => Date.now() + late,
      schoolClock: Date.now,
      overrides: { tokens: { access: '12h' } },
      log: createLog('info', openSync(join(folder, 'log'), 'w')),
    });
    token = await tokenOf(world, 'account:read courses:write');
    sameMember = await tokenOf(world, 'account:read courses:write');
    other = await tokenOf(world, 'account:read courses:write', OLU);
    await world.restart(overrides());
  });
  afterAll(async () => {
    await world.close();
    await school.close();
    rmSync(folder, { recursive: true });
  });
  afterEach(() => school.script(enrolling));

  const overrides = () => ({
    upstreams: { school: { url: school.url } },
    routes: ROUTES,
    mcp: { tools: TOOLS, resources: [], prompts: [] },
    constants: { mcp: { idempotencyWindow: 480 } },
  });
  const enrol = async (args: object, { by = token, name = 'enrol' } = {}) =>
    (await call(world, name, { course: 'c-1', ...args }, { token: by })).body.result;
  const written = async (work: () => Promise<unknown>): Promise<number> => {
    const before = school.requests.length;
    await work();
    return school.requests.length - before;
  };

  it('runs once, however often and in whatever form it is sent', async () => {
    const key = 'wish-no-1-of-sam';
    const first = await enrol({ note: 'a', idempotencyKey: key });
    expect(first.structuredContent.enrolment).toMatch(/^secret-\d+$/);
    expect(JSON.parse(school.last().body.toString())).toEqual({ note: 'a' });
    const again = await written(async () => {
      expect(await enrol({ idempotencyKey: key, note: 'a' })).toEqual(first);
      const params = { name: 'enrol', arguments: { note: 'a', course: 'c-1' } };
      const _meta = { 'coursegate/idempotencyKey': key };
      expect((await ask(world, 'tools/call', { ...params, _meta }, { token })).body.result).toEqual(first);
      const modern = { ...params, arguments: { ...params.arguments, idempotencyKey: key } };
      expect((await askModern(world, 'tools/call', modern, { token })).body.result).toMatchObject(first);
      await world.restart();
      expect(await enrol({ idempotencyKey: key, note: 'a' })).toEqual(first);
    });
    expect(again).toBe(0);
    const lines = readFileSync(join(folder, 'log'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('tool_called'));
    expect(JSON.parse(lines[0] ?? '')).not.toHaveProperty('event.reason');
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ 'mcp.tool': 'enrol', 'event.reason': 'repeated' });
  });

  it('runs each time if it is sent without one', async () => {
    expect(await written(() => Promise.all([enrol({}), enrol({})]))).toBe(2);
  });

  it('is refused when it is repeated with other arguments', async () => {
    const key = 'wish-no-2-of-sam';
    await enrol({ note: 'a', idempotencyKey: key });
    const again = await written(async () => {
      for (const args of [{ note: 'b' }, {}, { note: 'a', course: 'c-2' }]) {
        const { isError, content } = await enrol({ ...args, idempotencyKey: key });
        expect([isError, content[0].text]).toEqual([true, expect.stringMatching(/was used with other arguments/)]);
      }
    });
    expect(again).toBe(0);
  });

  it('waits for the first one, which continues even if its client disconnects', async () => {
    const key = 'wish-no-3-of-sam';
    let arrived: () => void = () => {};
    const there = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let release: () => void = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    school.script(async (request, response, recorded) => {
      arrived();
      await released;
      await enrolling(request, response, recorded);
    });
    const before = school.requests.length;
    const left = new AbortController();
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'enrol', arguments: { course: 'c-1', idempotencyKey: key } },
    };
    const gone = fetch(`${world.origin}/mcp`, {
      method: 'POST',
      signal: left.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
      },
      body: JSON.stringify(message),
    }).catch((error: Error) => error.name);
    await there;
    left.abort();
    expect(await gone).toBe('AbortError');
    // Once these are answered, the gate has noticed that the client disconnected.
    for (let turn = 0; turn < 5; turn += 1) await ask(world, 'tools/list');
    const others = [enrol({ idempotencyKey: key }), enrol({ idempotencyKey: key })];
    release();
    const [one, two] = await Promise.all(others);
    expect(one.structuredContent).toEqual({ enrolment: `secret-${number}` });
    expect(two).toEqual(one);
    expect(school.requests.length - before).toBe(1);
  });

  it('may be repeated after a refusal, but not after an unknown outcome', async () => {
    school.script(refusing(422));
    expect((await enrol({ idempotencyKey: 'wish-no-4' })).isError).toBe(true);
    school.script(enrolling);
    expect((await enrol({ idempotencyKey: 'wish-no-4' })).isError).toBeUndefined();
    school.script(refusing(500));
    const failed = await enrol({ idempotencyKey: 'wish-no-5' });
    expect(failed.content[0].text).toMatch(/invalid response.* It is not known whether this was done: /);
    school.script(enrolling);
    expect(await written(async () => expect(await enrol({ idempotencyKey: 'wish-no-5' })).toEqual(failed))).toBe(0);
    // Nothing was sent to the upstream, so the key is still free.
    expect((await enrol({ course: 'a/b', idempotencyKey: 'wish-no-6' })).isError).toBe(true);
    expect((await enrol({ idempotencyKey: 'wish-no-6' })).isError).toBeUndefined();
  });

  it('is scoped to the member, the app and the tool', async () => {
    const idempotencyKey = 'the-same-key';
    const results = [
      await enrol({ idempotencyKey }),
      await enrol({ idempotencyKey }, { by: other }),
      await enrol({ idempotencyKey }, { by: sameMember }),
    ];
    expect(new Set(results.map(({ structuredContent }) => structuredContent.enrolment)).size).toBe(3);
    const anonymous = (await call(world, 'suggest', { course: 'c', idempotencyKey })).body.result;
    expect([anonymous.isError, anonymous.content[0].text]).toEqual([true, expect.stringMatching(/is for members/)]);
    expect((await call(world, 'suggest', { course: 'c' })).body.result.isError).toBeUndefined();
    expect(
      (await call(world, 'suggest', { course: 'c-1', idempotencyKey }, { token })).body.result.structuredContent,
    ).not.toEqual(results[0].structuredContent);
  });

  it('may have 8 to 200 characters', async () => {
    for (const idempotencyKey of ['!2345~78', `${'x'.repeat(199)}y`])
      expect((await enrol({ idempotencyKey })).isError).toBeUndefined();
  });

  it.each([
    ['short', { idempotencyKey: '1234567' }],
    ['long', { idempotencyKey: 'x'.repeat(201) }],
    ['not a string', { idempotencyKey: 12345678 }],
    ['with invalid characters', { idempotencyKey: 'with a blank' }],
  ])('that is %s is refused', async (_, args) => {
    const none = await written(async () => {
      const { isError, content } = await enrol(args);
      expect([isError, content[0].text]).toEqual([true, expect.stringMatching(/8 to 200 visible characters/)]);
    });
    expect(none).toBe(0);
  });

  it('that differs between arguments and _meta is refused', async () => {
    const _meta = { 'coursegate/idempotencyKey': 'one-of-two-keys' };
    const params = { name: 'enrol', arguments: { course: 'c', idempotencyKey: 'two-of-two-keys' }, _meta };
    const { body } = await ask(world, 'tools/call', params, { token });
    expect(body.result).toMatchObject({ isError: true, content: [{ text: expect.stringMatching(/differs from/) }] });
  });

  it('is supported by every tool that changes something, unless the tool has its own key', async () => {
    const { tools } = (await ask(world, 'tools/list', {}, { token })).body.result;
    const properties = Object.fromEntries(
      tools.map(({ name, inputSchema }: { name: string; inputSchema: { properties: object } }) => [
        name,
        inputSchema.properties,
      ]),
    );
    expect(properties.enrol.idempotencyKey).toMatchObject({ type: 'string', minLength: 8, maxLength: 200 });
    expect(properties.own_rule.idempotencyKey).toEqual({ type: 'string' });
    expect(properties.look).toEqual({});
    const args = { idempotencyKey: 'theirs-to-judge' };
    expect(
      await written(async () => [await enrol(args, { name: 'own_rule' }), await enrol(args, { name: 'own_rule' })]),
    ).toBe(2);
    expect(JSON.parse(school.last().body.toString())).toEqual(args);
    expect((await call(world, 'look', { idempotencyKey: 'nothing-to-do' }, { token })).body.result.isError).toBe(true);
  });

  it('is stored encrypted, and only for its window', async () => {
    const idempotencyKey = 'wish-no-7-of-sam';
    const first = await enrol({ idempotencyKey });
    const files = readdirSync(world.data, { recursive: true, encoding: 'utf8' });
    const stored = files
      .filter((file) => /\.db/.test(file))
      .map((file) => readFileSync(join(world.data, file), 'latin1'));
    expect(stored.join('').length).toBeGreaterThan(1000);
    expect(stored.join('')).not.toContain(first.structuredContent.enrolment);
    expect(stored.join('')).not.toContain(idempotencyKey);
    late += 5 * 60_000;
    expect(await enrol({ idempotencyKey })).toEqual(first);
    late += 4 * 60_000;
    expect((await enrol({ idempotencyKey })).structuredContent).not.toEqual(first.structuredContent);
  });

  it('is not repeated after the gate was stopped halfway, and its outcome is reported as unknown', async () => {
    const idempotencyKey = 'wish-no-8-of-sam';
    let arrived: () => void = () => {};
    const there = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    school.script(() => arrived());
    const lost = enrol({ idempotencyKey }).catch(() => undefined);
    await there;
    await world.restart();
    await lost;
    school.script(enrolling);
    late += 40_000;
    const again = await written(async () => {
      const { isError, content } = await enrol({ idempotencyKey });
      expect([isError, content[0].text]).toEqual([
        true,
        expect.stringMatching(/It is not known whether this was done: /),
      ]);
    });
    expect(again).toBe(0);
  });

  it('is refused beyond the maximum number of keys', async () => {
    // However long the calls take on this machine.
    await world.restart({ ...overrides(), constants: { mcp: { idempotencyWindow: 43_200, idempotencyKeys: 5 } } });
    const keys = Array.from({ length: 6 }, (_, at) => `many-keys-${at}`);
    const texts: string[] = [];
    for (const idempotencyKey of keys) {
      const { isError, content } = await enrol({ idempotencyKey }, { by: other });
      if (isError) texts.push(content[0].text);
    }
    expect(texts).toEqual([expect.stringMatching(/Too many idempotency keys/)]);
    // A known key does not count as another one.
    expect((await enrol({ idempotencyKey: keys[0] }, { by: other })).isError).toBeUndefined();
    expect((await enrol({ idempotencyKey: 'one-of-another-member' })).isError).toBeUndefined();
    expect((await enrol({}, { by: other })).isError).toBeUndefined();
  });
});

describe.skipIf(!redisPresent())('a call with an idempotency key, at two gates on one Redis', () => {
  let folder: string;
  let redis: RedisServer;
  let balancer: Balancer;
  let school: School;
  let upstream: RecordingUpstream;
  let gates: readonly [GateProcess, GateProcess];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'coursegate-once-'));
    const tool = { ...TOOLS[0], scopes: ['account:read', 'courses:write'] };
    writeFileSync(join(folder, 'tools.yaml'), JSON.stringify({ tools: [tool] }));
    redis = await startRedis();
    balancer = await startBalancer();
    school = await schoolOf(balancer.origin);
    upstream = await startRecordingUpstream(enrolling);
    const gate = () =>
      gateProcess({
        origin: balancer.origin,
        school,
        environment: {
          COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
          COURSEGATE__SECRET: '{ env: TEST_SECRET }',
          COURSEGATE__UPSTREAMS__ECHO__URL: upstream.url,
          COURSEGATE__ROUTES: '[{ match: "POST /enrolments/*", upstream: echo, scopes: [courses:write] }]',
          COURSEGATE__MCP: `{ file: ${join(folder, 'tools.yaml')} }`,
          REDIS_URL: redis.url,
          TEST_SECRET: 'k'.repeat(40),
        },
      });
    gates = [await gate(), await gate()];
    await Promise.all(gates.map((one) => one.start()));
    balancer.serve(gates);
    await Promise.all([balancer.seen(0, true), balancer.seen(1, true)]);
  });
  afterAll(async () => {
    await Promise.all((gates ?? []).map((gate) => gate.close()));
    await upstream?.close();
    await school?.close();
    await balancer?.close();
    await redis?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('runs once when it is sent twenty times at once', async () => {
    const app = await registerApp(balancer.origin);
    const token = (await connect(app, { parameters: { scope: 'account:read courses:write' } })).access_token;
    const world = { origin: balancer.origin } as World;
    const from = balancer.served.length;
    const results = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const args = { course: 'c-1', idempotencyKey: 'twenty-at-once' };
        return (await call(world, 'enrol', args, { token })).body.result.structuredContent;
      }),
    );
    expect(new Set(results.map((result) => JSON.stringify(result)))).toEqual(new Set([JSON.stringify(results[0])]));
    expect(results[0]).toEqual({ enrolment: expect.stringMatching(/^secret-/) });
    expect(upstream.requests).toHaveLength(1);
    expect(new Set(balancer.served.slice(from).map(({ replica }) => replica))).toEqual(new Set([0, 1]));
  });
});
