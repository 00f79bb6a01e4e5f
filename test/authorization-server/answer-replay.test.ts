import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answerReplay, type CodeOrRefreshToken } from '../../src/authorization-server/answer-replay.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import type { Store } from '../../src/storage/store.ts';

const BODY = { access_token: 'the-access-token', refresh_token: 'the-refresh-token', expires_in: 600 };
const presented: CodeOrRefreshToken = { value: 'the-old-token', grantId: 'g', question: '[]' };

const token = (id: string) => ({ kind: 'RefreshToken', id, payload: '{}', expiresAt: undefined, references: {} });

async function answered(window = 10) {
  let now = 1_000_000_000_000;
  const store = memoryStore(() => now);
  const replay = answerReplay(store, () => now, window);
  const mutations = replay.remember(presented, BODY);
  await store.commit([...mutations, { op: 'put', entry: token(BODY.refresh_token) }]);
  /**
   * Advances the clock of the store and of its readers, but fires no timers: as if the process were dead in the
   * meantime.
   */
  const pass = (seconds: number) => {
    now += seconds * 1000;
  };
  /** Another process on the same store: a restarted one or another replica. */
  const another = () => answerReplay(store, () => now, window);
  return { store, replay, mutations, pass, another };
}

describe('the response to a refresh token', () => {
  it('is repeated within the window and deleted after it', async () => {
    const { replay, pass } = await answered();
    expect(await replay.recall(presented)).toEqual({ kind: 'answer', body: BODY });
    pass(9);
    expect(await replay.recall(presented)).toEqual({ kind: 'answer', body: BODY });
    pass(1);
    expect(await replay.recall(presented)).toEqual({ kind: 'unknown' });
  });

  it('is repeated by the next process for up to a day when the first one died', async () => {
    const { pass, another } = await answered();
    pass(3600);
    const aged = { ...BODY, expires_in: 1 };
    expect(await another().recall(presented)).toEqual({ kind: 'answer', body: aged });
    expect(await another().recall({ ...presented, question: '["other"]' })).toEqual({ kind: 'another-question' });
    pass(24 * 3600 - 3600 + 9);
    expect(await another().recall(presented)).toEqual({ kind: 'answer', body: aged });
    pass(1);
    expect(await another().recall(presented)).toEqual({ kind: 'unknown' });
  });

  it('reports the remaining lifetime of the access token', async () => {
    const { pass, another } = await answered();
    pass(130);
    expect(await another().recall(presented)).toEqual({ kind: 'answer', body: { ...BODY, expires_in: 470 } });
  });

  it('is not repeated by the next process once its refresh token was used, however long the restart took', async () => {
    const { store, pass, another } = await answered();
    pass(3600);
    await store.commit([{ op: 'consume', kind: 'RefreshToken', id: BODY.refresh_token }]);
    expect(await another().recall(presented)).toEqual({ kind: 'reused' });
  });

  describe('in a running process', () => {
    beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000_000 }));
    afterEach(() => void vi.useRealTimers());
    const living = async () => {
      const inner = memoryStore(Date.now);
      const disk = { full: false, writes: 0 };
      const store: Store = {
        ...inner,
        commit(mutations) {
          disk.writes += 1;
          return disk.full ? Promise.reject(new Error('disk full')) : inner.commit(mutations);
        },
      };
      const replay = answerReplay(store, Date.now, 10);
      const answer = async () => {
        const mutations = replay.remember(presented, BODY);
        await inner.commit([...mutations, { op: 'put', entry: token(BODY.refresh_token) }]);
      };
      await answer();
      return { inner, disk, replay, answer, restarted: () => answerReplay(inner, Date.now, 10) };
    };

    it('stays deleted after its window, for every replica and after a restart', async () => {
      const { replay, restarted } = await living();
      await vi.advanceTimersByTimeAsync(9_999);
      for (const reader of [replay, restarted()]) expect((await reader.recall(presented)).kind).toBe('answer');
      await vi.advanceTimersByTimeAsync(2_501);
      for (const reader of [replay, restarted()]) expect(await reader.recall(presented)).toEqual({ kind: 'unknown' });
      vi.setSystemTime(Date.now() + 3_600_000);
      expect(await restarted().recall(presented)).toEqual({ kind: 'unknown' });
    });

    it('takes one write to delete, and one in 2.5 seconds when there are many', async () => {
      const { disk, answer } = await living();
      await vi.advanceTimersByTimeAsync(600_000);
      expect(disk.writes).toBe(1);
      for (let tenths = 0; tenths < 600; tenths += 1) {
        await answer();
        await vi.advanceTimersByTimeAsync(100);
      }
      await vi.advanceTimersByTimeAsync(600_000);
      expect(disk.writes).toBeLessThanOrEqual(1 + 60 / 2.5 + 2);
    });

    it('is kept until a window after the store can be written again, and no longer', async () => {
      const { disk, replay, restarted } = await living();
      const kinds = async () => {
        const recalled = [replay, restarted()].map(async (reader) => (await reader.recall(presented)).kind);
        return Promise.all(recalled);
      };
      disk.full = true;
      await vi.advanceTimersByTimeAsync(60_000);
      disk.full = false;
      expect(await kinds()).toEqual(['answer', 'answer']);
      // The next attempt to write is at most a quarter of the window away, and the end is rounded up to one.
      await vi.advanceTimersByTimeAsync(9_999);
      expect(await kinds()).toEqual(['answer', 'answer']);
      await vi.advanceTimersByTimeAsync(5_001);
      expect(await kinds()).toEqual(['unknown', 'unknown']);
    });

    it('is not kept for longer when its window was over before the store failed', async () => {
      const { disk, replay, answer, restarted } = await living();
      await vi.advanceTimersByTimeAsync(12_500);
      await answer();
      await vi.advanceTimersByTimeAsync(12_500);
      disk.full = true;
      // An answer that is given now keeps the watch writing.
      replay.remember({ ...presented, value: 'another-token' }, BODY);
      await vi.advanceTimersByTimeAsync(60_000);
      disk.full = false;
      await vi.advanceTimersByTimeAsync(5_000);
      for (const reader of [replay, restarted()]) expect(await reader.recall(presented)).toEqual({ kind: 'unknown' });
    });

    it('is not written more often when the clock is set back by a month', async () => {
      const { disk } = await living();
      vi.setSystemTime(Date.now() - 30 * 24 * 3_600_000);
      await vi.advanceTimersByTimeAsync(120_000);
      expect(disk.writes).toBeLessThanOrEqual(12);
    });
  });

  it('replaces the earlier response of the same connection', async () => {
    const { store, replay } = await answered();
    const later = { ...presented, value: 'the-next-token' };
    await store.commit(replay.remember(later, BODY));
    expect(await store.get('RefreshAnswer', 'the-next-token')).toBeDefined();
    expect(await replay.recall(presented)).toEqual({ kind: 'unknown' });
  });

  it('is not repeated for a different request, or once its refresh token was used or deleted', async () => {
    const { replay, store } = await answered();
    expect(await replay.recall({ ...presented, question: '["other"]' })).toEqual({ kind: 'another-question' });
    await store.commit([{ op: 'consume', kind: 'RefreshToken', id: BODY.refresh_token }]);
    expect(await replay.recall(presented)).toEqual({ kind: 'reused' });
    await store.commit([{ op: 'delete', kind: 'RefreshToken', id: BODY.refresh_token }]);
    expect(await replay.recall(presented)).toEqual({ kind: 'reused' });
  });

  it('is not stored without a window', async () => {
    expect((await answered(0)).mutations).toEqual([]);
  });

  it('cannot be read in the store', async () => {
    const { mutations } = await answered();
    expect(JSON.stringify(mutations)).toContain(presented.value);
    for (const secret of ['the-access-token', 'the-refresh-token'])
      expect(JSON.stringify(mutations)).not.toContain(secret);
  });
});
