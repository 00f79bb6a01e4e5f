import { describe, expect, it } from 'vitest';
import { UnitOfWork } from '../../src/authorization-server/unit-of-work.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import type { Mutation, Store } from '../../src/storage/store.ts';

/** A store that records which mutations were committed together, and fails on demand. */
function watched(fail = false): { store: Store; commits: (readonly Mutation[])[] } {
  const inner = memoryStore(Date.now);
  const commits: (readonly Mutation[])[] = [];
  const commit: Store['commit'] = async (mutations) => {
    if (fail) throw new Error('the disk is full');
    commits.push(mutations);
    return inner.commit(mutations);
  };
  return { store: { ...inner, commit }, commits };
}

const remove = (kind: string) => ({ op: 'deleteBy', kind, name: 'grant', value: 'g' }) as const;

describe('an entry that a request removes', () => {
  it('is deleted in one commit and reported once after it', async () => {
    const { store, commits } = watched();
    const unit = new UnitOfWork(store);
    const told: number[] = [];
    const after = () => void told.push(commits.length);
    for (const kind of ['AccessToken', 'RefreshToken', 'Grant']) unit.remove(remove(kind), after);
    expect(commits).toEqual([]);
    await unit.commitRemovals();
    expect(commits).toEqual([['AccessToken', 'RefreshToken', 'Grant'].map(remove)]);
    expect(told).toEqual([1]);
  });

  it('is deleted even if the request failed, while its writes are discarded', async () => {
    const { store, commits } = watched();
    const unit = new UnitOfWork(store);
    unit.put({ kind: 'AccessToken', id: 'a', payload: '{}', expiresAt: undefined, references: {} });
    unit.remove(remove('RefreshToken'));
    await unit.commitRemovals();
    expect(commits).toEqual([[remove('RefreshToken')]]);
    expect(await store.get('AccessToken', 'a')).toBeUndefined();
  });

  it('is reported when the commit failed too, because it may have been applied', async () => {
    const unit = new UnitOfWork(watched(true).store);
    let reported = 0;
    unit.remove(remove('Grant'), () => {
      reported += 1;
    });
    await expect(unit.commitRemovals()).rejects.toThrow('full');
    expect(reported).toBe(1);
  });
});
