import { AsyncResource } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { answerReplay, type CodeOrRefreshToken } from '../../src/authorization-server/answer-replay.ts';
import { familyEntry } from '../../src/authorization-server/refresh-family.ts';
import { UnitOfWork } from '../../src/authorization-server/unit-of-work.ts';
import { withinRequest } from '../../src/http/current-request.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { inTime } from '../../src/storage/patience.ts';
import type { Store } from '../../src/storage/store.ts';
import { TEST_TOKENS } from '../support/refresh-tokens.ts';

const FIRST = TEST_TOKENS.issue(0);
const FAMILY = TEST_TOKENS.read(FIRST)?.family ?? '';
const SECOND = TEST_TOKENS.issue(1, FAMILY);
const BODY = { access_token: 'the-access-token', refresh_token: SECOND, expires_in: 600 };
const presented: CodeOrRefreshToken = { value: FIRST, grantId: 'g', question: '[]' };

/** Commits the record of the family's token of this generation, with the answer that issued it. */
async function answerWith(
  store: Store,
  replay: ReturnType<typeof answerReplay>,
  { value, body, generation }: { value: string; body: { refresh_token: string }; generation: number },
) {
  const unit = new UnitOfWork(store);
  const payload = { grantId: 'g', iat: 1, exp: 2_000_000_000, rotations: generation };
  const entry = familyEntry({ family: FAMILY, generation }, body.refresh_token, payload);
  unit.add({ op: 'put', entry });
  replay.remember({ ...presented, value }, body, unit);
  await unit.commit();
}

const FIRST_ANSWER = { value: FIRST, body: BODY, generation: 1 };

/** Uses the second token. */
const useSecond = (store: Store, replay: ReturnType<typeof answerReplay>) => {
  const body = { ...BODY, refresh_token: TEST_TOKENS.issue(2, FAMILY) };
  return answerWith(store, replay, { value: SECOND, body, generation: 2 });
};

async function answered(window = 10) {
  let now = 1_000_000_000_000;
  const store = memoryStore(() => now);
  const replay = answerReplay(store, () => now, window, TEST_TOKENS);
  await answerWith(store, replay, FIRST_ANSWER);
  /**
   * Advances the clock of the store and of its readers, but fires no timers: as if the process were dead in the
   * meantime.
   */
  const pass = (seconds: number) => {
    now += seconds * 1000;
  };
  /** Another process on the same store: a restarted one or another replica. */
  const another = () => answerReplay(store, () => now, window, TEST_TOKENS);
  const stored = async () => (await store.get('RefreshToken', FAMILY))?.payload ?? '';
  return { store, replay, stored, pass, another };
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
    await useSecond(store, another());
    expect(await another().recall(presented)).toEqual({ kind: 'unknown' });
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
      const replay = answerReplay(store, Date.now, 10, TEST_TOKENS);
      const answer = () => answerWith(inner, replay, FIRST_ANSWER);
      await answer();
      return { inner, disk, replay, answer, restarted: () => answerReplay(inner, Date.now, 10, TEST_TOKENS) };
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

    it('is kept until a window after a token request failed, though the watch could write', async () => {
      const { replay } = await living();
      await vi.advanceTimersByTimeAsync(9_000);
      // The store is away from here on, and there again when the watch writes.
      replay.failed();
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await replay.recall(presented)).kind).toBe('answer');
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await replay.recall(presented)).kind).toBe('unknown');
    });

    it('is kept no longer when a write took all the time that the request had for the store', async () => {
      const inner = memoryStore(Date.now);
      let isIll = true;
      const commit: Store['commit'] = (given) =>
        inTime(() => (isIll ? new Promise<never>(() => {}) : inner.commit(given)));
      const replay = answerReplay({ ...inner, commit }, Date.now, 10, TEST_TOKENS);
      // A real timer runs in the context in which it was set. One of vitest does not.
      const unbound = globalThis.setTimeout;
      vi.stubGlobal('setTimeout', (run: () => void, delay: number) => unbound(AsyncResource.bind(run), delay));
      await withinRequest({ provenance: {} as never, userAgent: '' }, () => answerWith(inner, replay, FIRST_ANSWER));
      await vi.advanceTimersByTimeAsync(60_000);
      isIll = false;
      await vi.advanceTimersByTimeAsync(20_000);
      vi.unstubAllGlobals();
      const restarted = answerReplay(inner, Date.now, 10, TEST_TOKENS);
      for (const reader of [replay, restarted]) expect(await reader.recall(presented)).toEqual({ kind: 'unknown' });
    });

    it('is not kept for longer when its window was over before the store failed', async () => {
      const { inner, disk, replay, answer, restarted } = await living();
      await vi.advanceTimersByTimeAsync(12_500);
      await answer();
      await vi.advanceTimersByTimeAsync(12_500);
      disk.full = true;
      // An answer that is given now keeps the watch writing.
      replay.remember({ ...presented, value: SECOND }, BODY, new UnitOfWork(inner));
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

  it('is kept in the record of the family, where the next response replaces it', async () => {
    const { store, replay, stored } = await answered();
    const before = await stored();
    await useSecond(store, replay);
    expect(await replay.recall({ ...presented, value: SECOND })).toMatchObject({ kind: 'answer' });
    expect(await replay.recall(presented)).toEqual({ kind: 'unknown' });
    expect((await stored()).length).toBe(before.length);
    expect((await store.scan(['RefreshToken'], undefined, 10)).entries).toHaveLength(1);
  });

  it('is not repeated for a different request, or once the connection has ended', async () => {
    const { replay, store } = await answered();
    expect(await replay.recall({ ...presented, question: '["other"]' })).toEqual({ kind: 'another-question' });
    await store.commit([{ op: 'delete', kind: 'RefreshToken', id: FAMILY }]);
    expect(await replay.recall(presented)).toEqual({ kind: 'unknown' });
  });

  it('is found for a token of the earlier form, which names no family', async () => {
    const { store, replay } = await answered();
    const old = 'o'.repeat(43);
    await answerWith(store, replay, { value: old, body: BODY, generation: 1 });
    expect(await replay.recall({ ...presented, value: old })).toEqual({ kind: 'answer', body: BODY });
    expect(await replay.recall({ ...presented, value: 'p'.repeat(43) })).toEqual({ kind: 'unknown' });
  });

  it('is not stored without a window', async () => {
    expect(await (await answered(0)).stored()).not.toContain('answer');
  });

  it('cannot be read in the store', async () => {
    const stored = await (await answered()).stored();
    expect(stored).toContain('answer');
    for (const secret of ['the-access-token', FIRST, SECOND]) expect(stored).not.toContain(secret);
  });
});
