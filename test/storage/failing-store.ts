import { expect } from 'vitest';
import type { NewEntry, Store } from '../../src/storage/store.ts';
import { timeOf } from '../support/pace.ts';

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

/** Waits until the store reports that it is unreachable. */
export async function failing(work: Promise<unknown>): Promise<void> {
  await expect(work).rejects.toMatchObject({ code: 'store_unavailable', status: 503 });
}

/** Less than two times the 800 ms for which a caller waits for the store. */
export const IN_TIME = 1500;

/** All works fail like that, and no later than a caller waits for the store. */
export async function failInTime(works: () => readonly Promise<unknown>[]): Promise<void> {
  expect(await timeOf(() => Promise.all(works().map(failing)))).toBeLessThan(IN_TIME);
}

export async function recovering(store: Store): Promise<void> {
  const works = () =>
    store.get('AccessToken', 'a').then(
      () => true,
      () => false,
    );
  await expect.poll(works, { interval: 20 }).toBe(true);
}
