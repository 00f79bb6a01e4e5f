import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { School } from '../../src/operator/demo/school.ts';
import { schoolOf } from '../../test/faults/gate-process.ts';
import { type App, registerApp } from '../../test/support/app.ts';
import { type HaproxyReplicas, startHaproxyReplicas } from '../../test/support/haproxy-replicas.ts';
import { OLU, SAM } from '../../test/support/member.ts';
import { type RedisServer, startRedis } from '../../test/support/redis.ts';
import { freePort } from '../../test/support/world.ts';
import { type SoakGate, soakGate } from './gate.ts';
import { Ledger, type SoakMember } from './ledger.ts';
import type { Place } from './place.ts';
import { type EchoUpstream, startEchoUpstream } from './upstream.ts';
import { TOOLS } from './works/tools.ts';

/** How long a replica may accept a revoked token if it misses the revocation message, in milliseconds. */
const HEARSAY = 6_000;
const MEMBERS: readonly SoakMember[] = [
  { id: 'm-1001', email: SAM.login, login: SAM },
  { id: 'm-1002', email: OLU.login, login: OLU },
];
const APPS = 8;

/** All processes and servers of one trial. */
export interface Stage {
  /** The gate that is measured and never killed. */
  readonly gate: SoakGate;
  readonly victim: SoakGate | undefined;
  readonly places: readonly Place[];
  readonly redis: RedisServer | undefined;
  readonly balancer: HaproxyReplicas | undefined;
  /** Until when requests may fail after a kill (Unix time in milliseconds), and whether the load is about to end. */
  readonly weather: { illUntil: number; over: boolean };
  readonly closers: (() => Promise<unknown>)[];
}

export interface StageOptions {
  readonly store: 'sqlite' | 'redis';
  /** With the embedded store: whether the measured gate is the only one. */
  readonly alone: boolean;
  readonly folder: string;
  readonly say: (line: string) => void;
}

/** Starts everything. If it throws, nothing is left running. */
export async function setStage({ store, alone, folder, say }: StageOptions): Promise<Stage> {
  const closers: (() => Promise<unknown>)[] = [];
  try {
    mkdirSync(folder, { recursive: true });
    const tools = join(folder, 'tools.yaml');
    writeFileSync(tools, TOOLS);
    const echo = await startEchoUpstream();
    closers.push(() => echo.close());
    // Redis writes to disk before it responds, so that acknowledged data survives a kill.
    const redis = store === 'redis' ? await startRedis({ appendOnly: 'always' }) : undefined;
    if (redis !== undefined) closers.push(() => redis.close());
    const school = async (origin: string): Promise<School> => {
      const opened = await schoolOf(origin);
      closers.push(() => opened.close());
      return opened;
    };
    const gate = async (name: string, port: number, origin: string, { urls }: School): Promise<SoakGate> => {
      const environment = {
        ...settings(echo, tools),
        ...(redis === undefined ? {} : onRedis(redis)),
        COURSEGATE__UPSTREAMS__SCHOOL__URL: urls.school,
        COURSEGATE__UPSTREAMS__PROGRESS__URL: urls.progress,
        COURSEGATE__UPSTREAMS__EVENTS__URL: urls.events,
      };
      const made = await soakGate({ name: `${store}-${name}`, folder, port, origin, environment });
      closers.push(() => made.kill());
      await made.start();
      return made;
    };
    const weather = { illUntil: 0, over: true };
    if (redis === undefined) {
      const byItself = async (name: string) => {
        const port = await freePort();
        const origin = `http://localhost:${port}`;
        return gate(name, port, origin, await school(origin));
      };
      const measured = await byItself('measured');
      const victim = alone ? undefined : await byItself('victim');
      const gates = victim === undefined ? [measured] : [measured, victim];
      const places = await Promise.all(gates.map(({ listens }) => placeOf(listens, measured, weather, 0, say)));
      return { gate: measured, victim, places, redis, balancer: undefined, weather, closers };
    }
    const port = await freePort();
    const origin = `http://localhost:${port}`;
    const common = await school(origin);
    const measured = await gate('measured', await freePort(), origin, common);
    const victim = await gate('victim', await freePort(), origin, common);
    const balancer: HaproxyReplicas = await startHaproxyReplicas(port, [measured, victim]);
    closers.push(() => balancer.close());
    const place = await placeOf(origin, measured, weather, HEARSAY, say);
    return { gate: measured, victim, places: [place], redis, balancer, weather, closers };
  } catch (thrown) {
    for (const close of closers.toReversed()) await close();
    throw thrown;
  }
}

const settings = (echo: EchoUpstream, tools: string): Readonly<Record<string, string>> => ({
  COURSEGATE__UPSTREAMS__ECHO__URL: echo.url,
  COURSEGATE__MCP: `{ file: ${tools} }`,
  COURSEGATE__TOKENS: '{ access: 5m, replayWindow: 60s }',
  COURSEGATE__LISTEN__DRAIN: '{ notice: 2s, grace: 5s }',
  COURSEGATE__ROUTES: `[
    { match: "GET /api/v1/whoami", upstream: school, scopes: [] },
    { match: "GET /api/v1/courses/**", upstream: school, scopes: [courses:read] },
    { match: "GET|POST /echo/**", upstream: echo, scopes: [courses:read] },
    { match: "GET /events/**", upstream: echo, scopes: [courses:read], anonymous: serve },
    { match: "GET /open/**", upstream: echo, scopes: [courses:read], anonymous: serve },
    { match: "GET /staff/**", upstream: echo, scopes: [students:read] } ]`,
});

const onRedis = ({ url }: RedisServer): Readonly<Record<string, string>> => ({
  COURSEGATE__STORE: '{ kind: redis, url: { env: REDIS_URL } }',
  COURSEGATE__SECRET: '{ env: SOAK_SECRET }',
  REDIS_URL: url,
  SOAK_SECRET: 's'.repeat(40),
});

async function placeOf(
  origin: string,
  gate: SoakGate,
  weather: Stage['weather'],
  hearsay: number,
  say: (line: string) => void,
): Promise<Place> {
  const apps: App[] = [];
  while (apps.length < APPS) apps.push(await registerApp(origin));
  return {
    ...{
      origin,
      apps,
      members: MEMBERS,
      ledger: new Ledger((fault) => say(`FAULT ${fault}`)),
      browsers: new Map(),
      admin: gate.admin,
    },
    ill: () => Date.now() < weather.illUntil,
    over: () => weather.over,
    hearsay,
  };
}
