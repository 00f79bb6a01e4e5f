import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDeliverer, retryAll } from '../../src/events/deliverer.ts';
import type { Delivery } from '../../src/events/delivery.ts';
import { storedDeliveryState } from '../../src/events/delivery-state.ts';
import { clientEvent, type EventGrant, type GateEvent, grantCreated, grantRevoked } from '../../src/events/event.ts';
import { storedLease } from '../../src/events/lease.ts';
import { eventQueue } from '../../src/events/queue.ts';
import { eventSender } from '../../src/events/send.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { redisStore } from '../../src/storage/redis/redis-store.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import { sqliteStore } from '../../src/storage/sqlite/sqlite-store.ts';
import type { Store } from '../../src/storage/store.ts';
import { createCallUpstream } from '../../src/upstream/call.ts';
import { createPools } from '../../src/upstream/pools.ts';
import { EVENTS_SECRET } from '../support/event-receiver.ts';
import type { RedisServer } from '../support/redis.ts';
import { upstreamConfig } from '../support/upstream-config.ts';

export const keyOf = (secret: string) => Buffer.from(secret.slice('whsec_'.length), 'base64');

/** Every kind of store, sealed, on a clock. */
export function stores(redis: () => RedisServer | undefined): [string, (clock: () => number) => Store][] {
  let made = 0;
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-events-'));
  const sealed = (store: Store) => sealedStore(store, 'x'.repeat(32));
  return [
    ['memory', (clock) => sealed(memoryStore(clock))],
    ['sqlite', (clock) => sealed(sqliteStore(join(folder, `${++made}`, 'coursegate.db'), clock))],
    ['redis', (clock) => sealed(redisStore({ url: redis()?.url ?? '', keyPrefix: `e${++made}` }, clock))],
  ];
}

export interface Stand {
  readonly deliverer: ReturnType<typeof createDeliverer>;
  /** Makes all events due at once. */
  retry(): Promise<number>;
  /** Turns until there is nothing to do at once. */
  settle(): Promise<void>;
  write(...events: readonly GateEvent[]): Promise<void>;
  readonly delivered: string[];
  readonly failed: string[];
  readonly dropped: [type: string, why: string][];
  readonly logged: [level: string, line: object][];
  close(): Promise<void>;
}

export interface StandOptions {
  readonly store: Store;
  readonly clock: () => number;
  readonly url: string;
  readonly maxPending?: number;
  readonly keys?: readonly Buffer[];
  /** Seconds. */
  readonly timeout?: number;
  readonly path?: string;
}

/** One replica's deliverer, on the real way to an upstream, with no chance in its waits. */
export function stand({
  store,
  clock,
  url,
  maxPending = 1000,
  keys,
  timeout = 10,
  path = '/hook',
}: StandOptions): Stand {
  const upstreams = { hooks: upstreamConfig(url, { timeout, breaker: { failures: 0, cooldown: 5 } }) };
  const pools = createPools(upstreams);
  const call = createCallUpstream({ upstreams, pools, origin: 'https://school.example', identity: () => ({}) });
  const maxAge = 3 * 86_400;
  let passed = 0;
  const queue = eventQueue(store, () => clock() + passed, maxAge);
  const delivered: string[] = [];
  const failed: string[] = [];
  const dropped: [string, string][] = [];
  const logged: [string, object][] = [];
  const level = (name: string) => (line: object) => void logged.push([name, line]);
  const delivery: Delivery = {
    queue,
    lease: storedLease(store, clock, Math.ceil(timeout) + 5),
    states: storedDeliveryState(store, `hooks ${path}`),
    send: eventSender(call, { upstream: 'hooks', path }, keys ?? [keyOf(EVENTS_SECRET)], clock),
    timeout,
    maxAge: maxAge * 1000,
    maxPending,
    clock,
    random: () => 0,
    counts: {
      delivered: (type) => delivered.push(type),
      failed: (reason) => failed.push(reason),
      dropped: (type, why) => dropped.push([type, why]),
    },
    log: { info: level('info'), warn: level('warn'), error: level('error') } as never,
  };
  const deliverer = createDeliverer(delivery);
  return {
    deliverer,
    retry: () => retryAll(delivery),
    delivered,
    failed,
    dropped,
    logged,
    async settle() {
      while (await deliverer.turn());
    },
    async write(...events) {
      for (const event of events) {
        await store.commit([{ op: 'put', entry: queue.entryOf(event) }]);
        // No two things happen in the same second.
        passed += 1000;
      }
    },
    close: () => pools.close(),
  };
}

const grant = (id: string): EventGrant => ({
  id,
  member: 'm-1',
  client: { id: 'app', kind: 'registered' },
  scopes: ['openid'],
  resources: ['https://school.example'],
});

export const created = (id: string) => grantCreated(grant(id), undefined);
export const revoked = (id: string) => grantRevoked(grant(id), { by: 'member', reason: 'disconnected' });
export const registered = (id: string) => clientEvent('client.registered', { id, kind: 'registered' });
