import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { NewEntry, Store } from '../../src/storage/store.ts';

/** A clock that stands still until it is moved. Milliseconds. */
export interface TestClock {
  readonly now: () => number;
  advance(seconds: number): void;
}

export function testClock(start = Date.UTC(2026, 0, 1)): TestClock {
  let time = start;
  return {
    now: () => time,
    advance(seconds) {
      time += seconds * 1000;
    },
  };
}

const code = (id: string, over: Partial<NewEntry> = {}): NewEntry => ({
  kind: 'AuthorizationCode',
  id,
  payload: `{"id":"${id}"}`,
  expiresAt: undefined,
  references: {},
  ...over,
});

/** What every store does. A store's own test names it, makes it, and runs this. */
export function storeConformance(name: string, open: (clock: () => number) => Store | Promise<Store>): void {
  describe(`${name} store`, () => {
    let clock: TestClock;
    let store: Store;
    beforeEach(async () => {
      clock = testClock();
      store = await open(clock.now);
    });
    afterEach(() => store.close());

    const inSeconds = (seconds: number) => Math.floor(clock.now() / 1000) + seconds;

    it('gives back what was put, and nothing for what was not', async () => {
      await store.commit([{ op: 'put', entry: code('a', { payload: 'p"ä\u0000', references: { grant: 'g' } }) }]);
      expect((await store.get('AuthorizationCode', 'a'))?.payload).toBe('p"ä\u0000');
      expect(await store.get('AuthorizationCode', 'b')).toBeUndefined();
      expect(await store.get('AccessToken', 'a')).toBeUndefined();
    });

    it('puts over what stands, and keeps that it was consumed', async () => {
      await store.commit([{ op: 'put', entry: code('a') }]);
      expect(await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'a' }])).toBe(true);
      await store.commit([{ op: 'put', entry: code('a', { payload: 'second' }) }]);
      const entry = await store.get('AuthorizationCode', 'a');
      expect(entry?.payload).toBe('second');
      expect(entry?.consumedAt).toBe(inSeconds(0));
    });

    it('forgets an entry at the second of its expiry', async () => {
      await store.commit([{ op: 'put', entry: code('a', { expiresAt: inSeconds(60), references: { grant: 'g' } }) }]);
      clock.advance(59);
      expect(await store.get('AuthorizationCode', 'a')).toBeDefined();
      expect(await store.findBy('AuthorizationCode', 'grant', 'g')).toHaveLength(1);
      clock.advance(1);
      expect(await store.get('AuthorizationCode', 'a')).toBeUndefined();
      expect(await store.findBy('AuthorizationCode', 'grant', 'g')).toHaveLength(0);
    });

    it('consumes once', async () => {
      await store.commit([{ op: 'put', entry: code('a') }]);
      const attempts = await Promise.all(
        Array.from({ length: 20 }, () => store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'a' }])),
      );
      expect(attempts.filter((won) => won)).toHaveLength(1);
    });

    it('does not consume what is absent or expired', async () => {
      expect(await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'none' }])).toBe(false);
      await store.commit([{ op: 'put', entry: code('old', { expiresAt: inSeconds(1) }) }]);
      clock.advance(1);
      expect(await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'old' }])).toBe(false);
    });

    it('creates only what is not there, or is no longer', async () => {
      expect(await store.commit([{ op: 'create', entry: code('a', { expiresAt: inSeconds(10), payload: '1' }) }])).toBe(
        true,
      );
      expect(await store.commit([{ op: 'create', entry: code('a', { payload: '2' }) }])).toBe(false);
      expect((await store.get('AuthorizationCode', 'a'))?.payload).toBe('1');
      await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'a' }]);
      clock.advance(10);
      expect(await store.commit([{ op: 'create', entry: code('a', { payload: '3' }) }])).toBe(true);
      expect((await store.get('AuthorizationCode', 'a'))?.consumedAt).toBeUndefined();
    });

    it('applies all of a commit or nothing', async () => {
      await store.commit([{ op: 'put', entry: code('a') }]);
      await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'a' }]);
      const held = await store.commit([
        { op: 'put', entry: code('token', { kind: 'AccessToken' }) },
        { op: 'delete', kind: 'AuthorizationCode', id: 'a' },
        { op: 'consume', kind: 'AuthorizationCode', id: 'a' },
      ]);
      expect(held).toBe(false);
      expect(await store.get('AccessToken', 'token')).toBeUndefined();
      expect(await store.get('AuthorizationCode', 'a')).toBeDefined();
    });

    it('of many commits that consume one code and write a token, writes one token', async () => {
      await store.commit([{ op: 'put', entry: code('a') }]);
      await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          store.commit([
            { op: 'put', entry: code(`token-${index}`, { kind: 'AccessToken', references: { grant: 'g' } }) },
            { op: 'consume', kind: 'AuthorizationCode', id: 'a' },
          ]),
        ),
      );
      expect(await store.findBy('AccessToken', 'grant', 'g')).toHaveLength(1);
    });

    it('finds and deletes by each reference, within one kind', async () => {
      for (const name of ['grant', 'member', 'client', 'uid'] as const) {
        await store.commit([
          { op: 'put', entry: code(`${name}-1`, { references: { [name]: 'x' } }) },
          { op: 'put', entry: code(`${name}-2`, { references: { [name]: 'x' } }) },
          { op: 'put', entry: code(`${name}-3`, { references: { [name]: 'y' } }) },
          { op: 'put', entry: code(`${name}-4`, { kind: 'AccessToken', references: { [name]: 'x' } }) },
        ]);
        expect(await store.findBy('AuthorizationCode', name, 'x')).toHaveLength(2);
        expect(await store.findBy('AuthorizationCode', name, 'x', 1)).toHaveLength(1);
        await store.commit([{ op: 'deleteBy', kind: 'AuthorizationCode', name, value: 'x' }]);
        expect(await store.findBy('AuthorizationCode', name, 'x')).toHaveLength(0);
        expect(await store.findBy('AuthorizationCode', name, 'y')).toHaveLength(1);
        expect(await store.findBy('AccessToken', name, 'x')).toHaveLength(1);
      }
    });

    it('gives the oldest first, whatever was written over them since', async () => {
      const put = (id: string, payload: string, uid: string) =>
        store.commit([
          { op: 'put', entry: code(id, { payload, expiresAt: born[id] ?? 0, references: { client: 'x', uid } }) },
        ]);
      const born: Record<string, number> = {};
      for (const id of ['d', 'b', 'a', 'c']) {
        born[id] = inSeconds(600);
        await put(id, `${id} first`, 'new');
        clock.advance(1);
      }
      await put('b', 'b second', 'later');
      const found = await store.findBy('AuthorizationCode', 'client', 'x');
      expect(found.map(({ payload }) => payload)).toEqual(['d first', 'b second', 'a first', 'c first']);
      const two = await store.findBy('AuthorizationCode', 'client', 'x', 2);
      expect(two.map(({ payload }) => payload)).toEqual(['d first', 'b second']);
    });

    it('counts what it would find', async () => {
      const count = () => store.count('AuthorizationCode', 'grant', 'g');
      expect(await count()).toBe(0);
      await store.commit([
        ...['a', 'b', 'c'].map((id) => ({
          op: 'put' as const,
          entry: code(id, { expiresAt: inSeconds(60), references: { grant: 'g' } }),
        })),
        { op: 'put', entry: code('other', { references: { grant: 'h' } }) },
        { op: 'put', entry: code('token', { kind: 'AccessToken', references: { grant: 'g' } }) },
      ]);
      expect(await count()).toBe(3);
      await store.commit([{ op: 'delete', kind: 'AuthorizationCode', id: 'a' }]);
      await store.commit([{ op: 'put', entry: code('b', { references: { grant: 'h' } }) }]);
      expect(await count()).toBe(1);
      clock.advance(60);
      await store.sweep(10);
      expect(await count()).toBe(0);
    });

    it('sweeps expired entries in batches, and no others', async () => {
      await store.commit([
        ...Array.from({ length: 5 }, (_, index) => ({
          op: 'put' as const,
          entry: code(`old-${index}`, { expiresAt: inSeconds(5) }),
        })),
        { op: 'put', entry: code('young', { expiresAt: inSeconds(500) }) },
        { op: 'put', entry: code('eternal') },
      ]);
      clock.advance(5);
      expect(await store.sweep(3)).toBe(3);
      expect(await store.sweep(3)).toBe(2);
      expect(await store.sweep(3)).toBe(0);
      expect(await store.get('AuthorizationCode', 'young')).toBeDefined();
      expect(await store.get('AuthorizationCode', 'eternal')).toBeDefined();
    });
  });
}
