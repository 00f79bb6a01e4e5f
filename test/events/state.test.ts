import { expect, it } from 'vitest';
import { accessRefused } from '../../src/events/event.ts';
import { createEvents } from '../../src/events/events.ts';
import { eventQueue } from '../../src/events/queue.ts';
import { createLog } from '../../src/operations/log.ts';
import { memoryStore } from '../../src/storage/sqlite.ts';
import { EVENTS_SECRET } from '../support/event-receiver.ts';
import { created, keyOf } from './stand.ts';

it('the state lists events in sending order, so that many refusals do not hide the end of a grant', async () => {
  const store = memoryStore(Date.now);
  const maxAge = 86_400;
  const queue = eventQueue(store, Date.now, maxAge);
  const refused = { reason: 'invalid_token', clientId: undefined, member: undefined, grantId: undefined };
  const write = (event: Parameters<typeof queue.entryOf>[0]) =>
    store.commit([{ op: 'put', entry: queue.entryOf(event) }]);
  for (let at = 0; at < 101; at += 1) {
    const times = { count: 1, firstAt: at, lastAt: at, client: undefined };
    await write(accessRefused({ ...refused, ...times }, `replica ${at}`));
  }
  await write(created('g-1'));
  const events = createEvents({
    config: { upstream: 'hooks', path: '/hook', maxAge, maxPending: 1000 } as never,
    keys: [keyOf(EVENTS_SECRET)],
    timeout: 10,
    store,
    call: () => Promise.reject(new Error('not started')),
    describe: () => Promise.reject(new Error('not started')),
    counts: { delivered() {}, failed() {}, dropped() {} },
    clock: Date.now,
    log: createLog('silent', 2),
  });
  const state = await events.state();
  expect(state?.pending).toEqual({ refusal: 101, client: 0, grant: 1 });
  expect([state?.events.length, state?.events[0]?.type]).toEqual([100, 'grant.created']);
});
