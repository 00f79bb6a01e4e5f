import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { GatewayError } from '../../src/errors.ts';
import { openEvents } from '../../src/events/part.ts';
import { eventQueue } from '../../src/events/queue.ts';
import { eventSender } from '../../src/events/send.ts';
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

interface Body {
  readonly type: string;
  readonly data: { readonly count?: number; readonly member?: { readonly id: string } };
}

function running(answer: (signal: AbortSignal) => Promise<void> = async () => {}) {
  const store = memoryStore(Date.now);
  const received: string[] = [];
  const bodies: Body[] = [];
  const foundation = {
    store,
    metrics: { events: { delivered() {}, failed() {}, dropped() {} } },
    audit() {},
    clock: Date.now,
    log: createLog('silent', 2),
  };
  const events = { upstream: 'hooks', path: '/hook', maxAge: MAX_AGE, maxPending: 2000 };
  const loaded = { config: { events, upstreams: { hooks: { timeout: 10 } } }, eventKeys: [keyOf(EVENTS_SECRET)] };
  const part = openEvents(foundation as never, loaded as never, {
    call: (async ({ body, signal }: { body: string; signal: AbortSignal }) => {
      bodies.push(JSON.parse(body));
      received.push((JSON.parse(body) as Body).type);
      await answer(signal);
      return { status: 204, headers: {} };
    }) as never,
  });
  const queue = eventQueue(store, Date.now, MAX_AGE);
  /** As another replica does, of which this one is told nothing. */
  const stored = (id: string) => store.commit([{ op: 'put', entry: queue.entryOf(created(id)) }]);
  return { part, received, bodies, stored };
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

it('a part that stops ends the call that the backend does not answer, and keeps its event', async () => {
  const { part, received, stored } = running(
    (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new GatewayError('upstream_timeout')));
      }),
  );
  await stored('g-1');
  part.start?.();
  await vi.advanceTimersByTimeAsync(1000);
  expect(received).toHaveLength(1);
  const over = vi.fn<() => void>();
  const stopped = part.stop?.().then(over);
  await vi.advanceTimersByTimeAsync(1);
  expect(over).toHaveBeenCalledTimes(1);
  await stopped;
  expect((await part.state())?.pending).toMatchObject({ grant: 1 });
});

it('refusals of more than a thousand members in one minute are counted by reason alone', async () => {
  vi.setSystemTime(Date.UTC(2026, 0, 1));
  const { part, bodies } = running();
  part.start?.();
  const refused = (member: number, reason = 'invalid_token') =>
    part.refused({ reason, clientId: undefined, member: `m-${member}`, grantId: 'g' });
  for (let member = 0; member < 1000; member += 1) refused(member);
  for (const member of [1000, 1001, 0]) refused(member);
  refused(1002, 'rate_limited');
  await vi.advanceTimersByTimeAsync(200_000);
  const counted = bodies.map(({ data: { member, count, ...rest } }) => ({ id: member?.id, count, ...rest }));
  const of = (id: string | undefined) => counted.filter((one) => one.id === id);
  expect(counted).toHaveLength(1002);
  expect(of('m-0')).toMatchObject([{ count: 2, reason: 'invalid_token' }]);
  expect(of('m-999')).toMatchObject([{ count: 1 }]);
  expect(of(undefined)).toMatchObject([
    { count: 2, reason: 'invalid_token' },
    { count: 1, reason: 'rate_limited' },
  ]);
  await part.stop?.();
});

it.each<readonly [number, string]>([
  [200, 'taken'],
  [299, 'taken'],
  [410, 'gone'],
  ...[429, 502, 503, 504].map((status) => [status, 'down'] as const),
  ...[199, 300, 400, 409, 411, 428, 430, 500, 501, 505].map((status) => [status, 'refused'] as const),
])('an answer of %i is %s', async (status, kind) => {
  const call = async () => ({ status, headers: {} });
  const send = eventSender(call as never, { upstream: 'hooks', path: '/hook' }, [keyOf(EVENTS_SECRET)], Date.now);
  expect(await send({ type: 'grant.created', id: 'e', at: 0, data: {} } as never)).toMatchObject({ kind });
});
