import { expect, it } from 'vitest';
import { storedGrants } from '../../src/authorization-server/grants.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import type { Mutation } from '../../src/storage/store.ts';

const NOW = Date.UTC(2026, 0, 1);

interface Given {
  readonly scope: string;
  /** Seconds before now. */
  readonly ago: number;
  readonly client?: string;
  /** Whether its app has fetched no token. */
  readonly open?: true;
}

/** What a member's app holds after these grants, and how many codes were looked at. */
async function heldAfter(...grants: readonly Given[]) {
  const store = sealedStore(
    memoryStore(() => NOW),
    'x'.repeat(32),
  );
  let looks = 0;
  const counting: typeof store = {
    ...store,
    get: (kind, id) => {
      looks += 1;
      return store.get(kind, id);
    },
  };
  for (const [at, { scope, ago, client = 'app', open }] of grants.entries()) {
    const payload = { jti: `g${at}`, accountId: 'm', clientId: client, iat: NOW / 1000 - ago, openid: { scope } };
    const entry = (kind: string, references: Record<string, string>): Mutation => ({
      op: 'put',
      entry: { kind, id: `g${at}`, payload: JSON.stringify(payload), expiresAt: NOW / 1000 + 900, references },
    });
    await store.commit([entry('Grant', { member: 'm', client })]);
    if (open) await store.commit([entry('UnredeemedGrant', { grant: `g${at}` })]);
  }
  const held = await storedGrants(counting, () => {}).held('m', 'app');
  return { held: held && { scopes: [...held.scopes].sort(), ago: NOW / 1000 - held.since }, looks };
}

it('an app holds the scopes of all its grants, since the last one', async () => {
  const { held } = await heldAfter({ scope: 'a b', ago: 90 }, { scope: 'a', ago: 10 }, { scope: 'c', ago: 50 });
  expect(held).toEqual({ scopes: ['a', 'b', 'c'], ago: 10 });
});

it('an app holds nothing of other apps, nor of a grant whose code it never redeemed', async () => {
  const { held } = await heldAfter(
    { scope: 'a b', ago: 5, open: true },
    { scope: 'a', ago: 20 },
    { scope: 'c', ago: 3, client: 'other' },
  );
  expect(held).toEqual({ scopes: ['a'], ago: 20 });
  expect((await heldAfter({ scope: 'a', ago: 5, open: true })).held).toBeUndefined();
  expect((await heldAfter({ scope: 'a', ago: 5, client: 'other' })).held).toBeUndefined();
});

it('looks at one code of an app that connects again and again', async () => {
  const { held, looks } = await heldAfter(...Array.from({ length: 40 }, (_, ago) => ({ scope: 'a b', ago })));
  expect(held).toEqual({ scopes: ['a', 'b'], ago: 0 });
  expect(looks).toBe(1);
});
