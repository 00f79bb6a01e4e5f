import { beforeEach, describe, expect, it } from 'vitest';
import { durability } from '../../../src/storage/sqlite/sync.ts';
import type { Mutation } from '../../../src/storage/store.ts';

const put = (id: string): Mutation => ({
  op: 'put',
  entry: { kind: 'K', id, payload: '', expiresAt: undefined, references: {} },
});

/** Lets everything happen that does not wait for a sync. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a commit', () => {
  let commits: ReturnType<typeof durability>;
  /** The syncs that were begun: each ends when it is resolved or rejected here. */
  let syncs: PromiseWithResolvers<void>[];
  let durable: string[];
  beforeEach(() => {
    syncs = [];
    durable = [];
    commits = durability(() => {
      const sync = Promise.withResolvers<void>();
      syncs.push(sync);
      return sync.promise;
    });
  });
  const commit = (id: string) => commits.committed([put(id)]).then(() => durable.push(id));

  it('is durable after a sync that began after it, together with others', async () => {
    void commit('a');
    void commit('b');
    await settle();
    expect([syncs.length, durable]).toEqual([1, []]);
    void commit('c');
    void commit('d');
    await settle();
    expect(syncs).toHaveLength(1);
    syncs[0]?.resolve();
    await settle();
    expect([syncs.length, durable]).toEqual([2, ['a', 'b']]);
    syncs[1]?.resolve();
    await settle();
    expect([syncs.length, durable]).toEqual([2, ['a', 'b', 'c', 'd']]);
  });

  it('is synced at once when no sync is running', async () => {
    void commit('a');
    await settle();
    syncs[0]?.resolve();
    await settle();
    void commit('b');
    await settle();
    expect([syncs.length, durable]).toEqual([2, ['a']]);
  });

  it('fails with its sync, and the commits after it are synced again', async () => {
    const [first, second] = [commit('a'), settle().then(() => commit('b'))];
    first.catch(() => {});
    await settle();
    await settle();
    syncs[0]?.reject(new Error('EIO'));
    await expect(first).rejects.toThrow('EIO');
    await settle();
    expect(syncs).toHaveLength(2);
    syncs[1]?.resolve();
    await second;
    expect(durable).toEqual(['b']);
  });

  it('is waited for by reads of what it changed, until it is durable', async () => {
    expect([commits.entry('K', 'a'), commits.all()]).toEqual([undefined, undefined]);
    void commit('a');
    await settle();
    void commits.committed([{ op: 'deleteBy', kind: 'L', name: 'grant', value: 'g' }]);
    expect(commits.entry('K', 'b')).toBeUndefined();
    const reads: string[] = [];
    void commits.entry('K', 'a')?.then(() => reads.push('a'));
    void commits.entry('L', 'any')?.then(() => reads.push('any'));
    void commits.all()?.then(() => reads.push('all'));
    syncs[0]?.resolve();
    await settle();
    expect(commits.entry('K', 'a')).toBeUndefined();
    expect(reads).toEqual(['a']);
    syncs[1]?.resolve();
    await settle();
    expect(reads.toSorted()).toEqual(['a', 'all', 'any']);
    expect([commits.entry('L', 'any'), commits.all()]).toEqual([undefined, undefined]);
  });
});
