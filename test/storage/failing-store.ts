import { expect } from 'vitest';
import type { NewEntry, Store } from '../../src/storage/store.ts';

export const token = (id: string, over: Partial<NewEntry> = {}): NewEntry => ({
  kind: 'AccessToken',
  id,
  payload: '{}',
  expiresAt: undefined,
  references: {},
  ...over,
});

export const consume = (id: string) => ({ op: 'consume', kind: 'AccessToken', id }) as const;

/** Calls every method that reads or writes. */
export const everyMethod = (store: Store): readonly Promise<unknown>[] => [
  store.get('AccessToken', 'a'),
  store.findBy('AccessToken', 'grant', 'g'),
  store.count('AccessToken', 'grant', 'g'),
  store.scan(undefined, undefined, 10),
  store.commit([{ op: 'put', entry: token('b') }]),
  store.sweep(10),
];

/** Returns the milliseconds until the store reported that it is unreachable. */
export async function failing(work: Promise<unknown>): Promise<number> {
  const before = performance.now();
  await expect(work).rejects.toMatchObject({ code: 'store_unavailable', status: 503 });
  return performance.now() - before;
}

/** Returns the milliseconds until the store worked again. */
export async function recovering(store: Store): Promise<number> {
  const before = performance.now();
  const works = () =>
    store.get('AccessToken', 'a').then(
      () => true,
      () => false,
    );
  await expect.poll(works, { interval: 20, timeout: 10_000 }).toBe(true);
  return performance.now() - before;
}
