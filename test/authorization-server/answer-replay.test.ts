import { describe, expect, it } from 'vitest';
import { answerReplay, type Presented } from '../../src/authorization-server/answer-replay.ts';
import { memoryStore } from '../../src/storage/memory.ts';

const BODY = { access_token: 'the-access-token', refresh_token: 'the-refresh-token', expires_in: 600 };
const CODE: Presented = {
  grantType: 'authorization_code',
  value: 'the-code',
  verifier: 'the-verifier',
  grantId: 'g',
  question: '[]',
};
const TOKEN: Presented = { ...CODE, grantType: 'refresh_token', value: 'the-old-token', verifier: '' };

const token = (id: string) => ({ kind: 'RefreshToken', id, payload: '{}', expiresAt: undefined, references: {} });

async function answered(presented: Presented, window = 10) {
  let now = 1_000_000_000_000;
  const store = memoryStore(() => now);
  const replay = answerReplay(store, () => now, window);
  const entries = replay.remember(presented, BODY);
  await store.commit([...entries, token(BODY.refresh_token)].map((entry) => ({ op: 'put', entry })));
  const pass = (seconds: number) => {
    now += seconds * 1000;
  };
  return { store, replay, entries, pass };
}

describe.each([
  { what: 'code', presented: CODE },
  { what: 'refresh token', presented: TOKEN },
])('what a $what was answered with', ({ presented }) => {
  it('is given again within the window and forgotten after it', async () => {
    const { replay, pass } = await answered(presented);
    expect(await replay.recall(presented)).toEqual({ kind: 'answer', body: BODY });
    pass(9);
    expect(await replay.recall(presented)).toEqual({ kind: 'answer', body: BODY });
    pass(1);
    expect(await replay.recall(presented)).toEqual({ kind: 'unknown' });
  });

  it('is not given to another question, nor once its refresh token was used, nor once that is gone', async () => {
    const { replay, store } = await answered(presented);
    expect(await replay.recall({ ...presented, question: '["other"]' })).toEqual({ kind: 'another-question' });
    await store.commit([{ op: 'consume', kind: 'RefreshToken', id: BODY.refresh_token }]);
    expect(await replay.recall(presented)).toEqual({ kind: 'superseded' });
    await store.commit([{ op: 'delete', kind: 'RefreshToken', id: BODY.refresh_token }]);
    expect(await replay.recall(presented)).toEqual({ kind: 'superseded' });
  });

  it('is not kept at all without a window', async () => {
    expect((await answered(presented, 0)).entries).toEqual([]);
  });

  it('cannot be read in the store', async () => {
    const { entries } = await answered(presented);
    for (const secret of ['the-access-token', 'the-refresh-token']) expect(entries[0]?.payload).not.toContain(secret);
  });
});

it('the answer to a code opens to nobody who has the code and the store, but not its verifier', async () => {
  const { replay } = await answered(CODE);
  await expect(replay.recall({ ...CODE, verifier: 'another-verifier' })).rejects.toThrow();
});
