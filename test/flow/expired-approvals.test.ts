import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openApprovals } from '../../src/approvals/part.ts';
import { createLog } from '../../src/operations/log.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import type { Store } from '../../src/storage/store.ts';

const MINUTE = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Audited = { readonly action: string; readonly member: string; readonly reason?: string };

/** The part of one gate, and what its audit has of approvals that expired. */
function gate(store: Store) {
  const expired: Audited[] = [];
  const foundation = {
    store,
    clock: Date.now,
    audit: (event: Audited) => event.action === 'approval_expired' && expired.push(event),
    log: createLog('silent', 2),
  };
  const part = openApprovals(
    foundation as never,
    { config: { origin: 'https://gate.test', pages: {}, upstreams: {} } } as never,
  );
  const hold = (member: string) =>
    part.hold(
      { member, clientId: 'app', grantId: `g-${member}`, what: { route: 'POST /x' }, version: '1', call: '{}' },
      async () => ({ scopes: [], given: [] }),
    );
  return { part, expired, hold };
}

it('approvals that expired are audited within a minute, each by one of two gates on one store', async () => {
  const memory = memoryStore(Date.now);
  /** Both gates have read before one of them deletes. */
  const findBy: Store['findBy'] = async (...asked) => {
    const found = await memory.findBy(...asked);
    await new Promise((resolve) => setTimeout(resolve, 100));
    return found;
  };
  const store = { ...memory, findBy };
  const [one, other] = [gate(store), gate(store)];
  one.part.start();
  other.part.start();
  const members = Array.from({ length: 20 }, (_, number) => `m-${number}`);
  for (const member of members) expect((await one.hold(member)).kind).toBe('waiting');
  await vi.advanceTimersByTimeAsync(9 * MINUTE);
  await one.hold('m-later');
  expect([...one.expired, ...other.expired]).toEqual([]);
  await vi.advanceTimersByTimeAsync(2 * MINUTE);
  const audited = () => [...one.expired, ...other.expired].map(({ member }) => member).toSorted();
  expect(audited()).toEqual(members.toSorted());
  expect(one.expired[0] ?? other.expired[0]).toMatchObject({ reason: 'undecided', grantId: expect.any(String) });
  await vi.advanceTimersByTimeAsync(20 * MINUTE + 1000);
  expect(audited()).toEqual([...members, 'm-later'].toSorted());
  await Promise.all([one.part.stop(), other.part.stop()]);
});

it('a part that stops waits for the sweep in progress, and begins none', async () => {
  const store = memoryStore(Date.now);
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const findBy = vi.fn<Store['findBy']>(async (...asked) => {
    await answered;
    return await store.findBy(...asked);
  });
  const { part, expired, hold } = gate({ ...store, findBy });
  await hold('m-1');
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  part.start();
  await vi.advanceTimersByTimeAsync(MINUTE);
  const atItsEnd = part.stop().then(() => expired.length);
  answer();
  expect(await atItsEnd).toBe(1);
  await vi.advanceTimersByTimeAsync(10 * MINUTE);
  expect(findBy).toHaveBeenCalledTimes(1);
});

it('the store is read every ten minutes where nothing is held, and when a call that another gate holds can expire', async () => {
  const store = memoryStore(Date.now);
  const findBy = vi.fn<Store['findBy']>(store.findBy);
  const [idle, other] = [gate({ ...store, findBy }), gate(store)];
  idle.part.start();
  await vi.advanceTimersByTimeAsync(61 * MINUTE);
  expect(findBy).toHaveBeenCalledTimes(7);
  await other.hold('m-1');
  await vi.advanceTimersByTimeAsync(11 * MINUTE);
  expect(idle.expired.map(({ member }) => member)).toEqual(['m-1']);
  await idle.part.stop();
});

it('approvals that expired are taken 200 at a time, a minute apart, for as long as there are more', async () => {
  const { part, expired, hold } = gate(memoryStore(Date.now));
  for (let number = 0; number < 401; number += 1) await hold(`m-${number}`);
  part.start();
  const counts: number[] = [];
  for (let minute = 0; minute < 13; minute += 1) {
    await vi.advanceTimersByTimeAsync(MINUTE);
    counts.push(expired.length);
  }
  expect(counts.slice(8)).toEqual([0, 200, 400, 401, 401]);
  await part.stop();
});

it('an approval that expired is audited by a gate that was down for a day, and not by one that was down for longer', async () => {
  for (const [down, audited] of [
    [24 * 60 + 8, 1],
    [24 * 60 + 9, 0],
  ] as const) {
    const { part, expired, hold } = gate(memoryStore(Date.now));
    await hold('m-1');
    await vi.advanceTimersByTimeAsync(down * MINUTE);
    part.start();
    await vi.advanceTimersByTimeAsync(MINUTE);
    await part.stop();
    expect(expired, `${down} minutes`).toHaveLength(audited);
  }
});
