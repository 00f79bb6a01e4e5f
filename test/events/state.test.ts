import { expect, it, onTestFinished, vi } from 'vitest';
import { accessRefused } from '../../src/events/event.ts';
import { openEvents } from '../../src/events/part.ts';
import { eventQueue } from '../../src/events/queue.ts';
import { createLog } from '../../src/operations/log.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import type { Store } from '../../src/storage/store.ts';
import { createCallUpstream } from '../../src/upstream/call.ts';
import { createPools } from '../../src/upstream/pools.ts';
import type { CallUpstream } from '../../src/upstream/request.ts';
import { EVENTS_SECRET, startEventReceiver } from '../support/event-receiver.ts';
import { upstreamConfig } from '../support/upstream-config.ts';
import { created, keyOf } from './stand.ts';

const MAX_AGE = 86_400;

function eventsOf(store: Store, call: CallUpstream) {
  const foundation = {
    store,
    metrics: { events: { delivered() {}, failed() {}, dropped() {} } },
    audit() {},
    clock: Date.now,
    log: createLog('silent', 2),
  };
  const events = { upstream: 'hooks', path: '/hook', maxAge: MAX_AGE, maxPending: 1000 };
  const config = { events, upstreams: { hooks: { timeout: 10 } } };
  return openEvents(foundation as never, { config, eventKeys: [keyOf(EVENTS_SECRET)] } as never, { call });
}

it('the state lists events in sending order, so that many refusals do not hide the end of a grant', async () => {
  const store = memoryStore(Date.now);
  const queue = eventQueue(store, Date.now, MAX_AGE);
  const refused = { reason: 'invalid_token', clientId: undefined, member: undefined, grantId: undefined };
  const write = (event: Parameters<typeof queue.entryOf>[0]) =>
    store.commit([{ op: 'put', entry: queue.entryOf(event) }]);
  for (let at = 0; at < 101; at += 1) {
    const times = { count: 1, firstAt: at, lastAt: at, client: undefined };
    await write(accessRefused({ ...refused, ...times }, `replica ${at}`));
  }
  await write(created('g-1'));
  const events = eventsOf(store, () => Promise.reject(new Error('not started')));
  const state = await events.state();
  expect(state?.pending).toEqual({ refusal: 101, client: 0, grant: 1 });
  expect([state?.events.length, state?.events[0]?.type]).toEqual([100, 'grant.created']);
});

it('an event is sent soon after it was stored, before the next look at the queue', async () => {
  const receiver = await startEventReceiver();
  const upstreams = { hooks: upstreamConfig(receiver.upstream.url) };
  const pools = createPools(upstreams);
  const call = createCallUpstream({ upstreams, pools, origin: 'https://school.example', identity: () => ({}) });
  const store = memoryStore(Date.now);
  const events = eventsOf(store, call);
  onTestFinished(async () => {
    await events.stop?.();
    await pools.close();
    await receiver.close();
  });
  const write = (id: string) => store.commit(events.outbox.entries(created(id)).map((entry) => ({ op: 'put', entry })));
  await write('g-1');
  // The intervals in which the queue is looked at never pass.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  events.start?.();
  vi.useRealTimers();
  await expect.poll(async () => (await events.state())?.pending.grant, { timeout: 20_000 }).toBe(0);
  await write('g-2');
  await receiver.has('grant.created', ({ length }) => length === 2);
});
