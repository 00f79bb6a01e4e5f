import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openEvents } from '../../src/events/part.ts';
import { eventQueue } from '../../src/events/queue.ts';
import { createLog } from '../../src/operations/log.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { EVENTS_SECRET } from '../support/event-receiver.ts';
import { created, keyOf } from './stand.ts';

const MAX_AGE = 86_400;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function running() {
  const store = memoryStore(Date.now);
  const received: string[] = [];
  const foundation = {
    store,
    metrics: { events: { delivered() {}, failed() {}, dropped() {} } },
    audit() {},
    clock: Date.now,
    log: createLog('silent', 2),
  };
  const events = { upstream: 'hooks', path: '/hook', maxAge: MAX_AGE, maxPending: 1000 };
  const loaded = { config: { events, upstreams: { hooks: { timeout: 10 } } }, eventKeys: [keyOf(EVENTS_SECRET)] };
  const part = openEvents(foundation as never, loaded as never, {
    call: (async ({ body }: { body: string }) => {
      received.push((JSON.parse(body) as { type: string }).type);
      return { status: 204, headers: {} };
    }) as never,
  });
  const queue = eventQueue(store, Date.now, MAX_AGE);
  /** As another replica does, of which this one is told nothing. */
  const stored = (id: string) => store.commit([{ op: 'put', entry: queue.entryOf(created(id)) }]);
  return { part, received, stored };
}

it('an event that another replica has stored is sent within a second, and none after the part has stopped', async () => {
  const { part, received, stored } = running();
  part.start?.();
  await vi.advanceTimersByTimeAsync(300);
  await stored('g-1');
  await vi.advanceTimersByTimeAsync(1000);
  expect(received).toEqual(['grant.created']);
  await part.stop?.();
  await stored('g-2');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(received).toEqual(['grant.created']);
});

it('refused requests are counted for a minute, and sent five seconds after it at the latest', async () => {
  vi.setSystemTime(Date.UTC(2026, 0, 1));
  const { part, received } = running();
  part.start?.();
  const refused = { reason: 'invalid_token', clientId: undefined, member: 'm-1', grantId: undefined } as const;
  part.refused(refused);
  await vi.advanceTimersByTimeAsync(30_000);
  part.refused(refused);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(received).toEqual([]);
  await vi.advanceTimersByTimeAsync(7000);
  expect(received).toEqual(['access.refused']);
  await part.stop?.();
});

it('refusals of the last minute are stored when the part stops, and are sent by the next', async () => {
  const { part, received } = running();
  part.start?.();
  part.refused({ reason: 'invalid_token', clientId: undefined, member: 'm-1', grantId: undefined });
  await part.stop?.();
  expect(received).toEqual([]);
  expect((await part.state())?.pending).toMatchObject({ refusal: 1 });
});
