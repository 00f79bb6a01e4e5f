import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { namespacedStore } from '../../src/storage/namespace.ts';
import type { Charge, Quota } from '../../src/storage/quota.ts';
import type { NewEntry, RawStore, Store } from '../../src/storage/store.ts';

/** A clock in milliseconds that only advances when a test moves it. */
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

/** The part of a store that one school has; closing it closes the store. */
export function oneSchool(store: RawStore): RawStore {
  return { ...namespacedStore(store, '0123456789abcdef01234567'), close: () => store.close() };
}

/** The tests that every store must pass. The test file of each store calls this. */
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

    it('returns stored entries, and undefined for all others', async () => {
      await store.commit([{ op: 'put', entry: code('a', { payload: 'p"ä\\\u0000', references: { grant: 'g' } }) }]);
      expect((await store.get('AuthorizationCode', 'a'))?.payload).toBe('p"ä\\\u0000');
      expect(await store.get('AuthorizationCode', 'b')).toBeUndefined();
      expect(await store.get('AccessToken', 'a')).toBeUndefined();
    });

    it('replaces an existing entry, and keeps its consumed state', async () => {
      await store.commit([{ op: 'put', entry: code('a') }]);
      expect(await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'a' }])).toBe(true);
      await store.commit([{ op: 'put', entry: code('a', { payload: 'second' }) }]);
      const entry = await store.get('AuthorizationCode', 'a');
      expect(entry?.payload).toBe('second');
      expect(entry?.consumedAt).toBe(inSeconds(0));
    });

    it('expires an entry on the second', async () => {
      await store.commit([{ op: 'put', entry: code('a', { expiresAt: inSeconds(60), references: { grant: 'g' } }) }]);
      clock.advance(59);
      expect(await store.get('AuthorizationCode', 'a')).toBeDefined();
      expect(await store.findBy('AuthorizationCode', 'grant', 'g')).toHaveLength(1);
      clock.advance(1);
      expect(await store.get('AuthorizationCode', 'a')).toBeUndefined();
      expect(await store.findBy('AuthorizationCode', 'grant', 'g')).toHaveLength(0);
    });

    it('lets only one of many attempts consume an entry', async () => {
      await store.commit([{ op: 'put', entry: code('a') }]);
      const attempts = await Promise.all(
        Array.from({ length: 20 }, () => store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'a' }])),
      );
      expect(attempts.filter((won) => won)).toHaveLength(1);
    });

    it('does not consume an absent or expired entry', async () => {
      expect(await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'none' }])).toBe(false);
      await store.commit([{ op: 'put', entry: code('old', { expiresAt: inSeconds(1) }) }]);
      clock.advance(1);
      expect(await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'old' }])).toBe(false);
    });

    it('creates an entry only if none exists or the existing one has expired', async () => {
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

    it('evaluates a guard after the earlier mutations of the same commit', async () => {
      const entry = code('a', { references: { grant: 'g' } });
      const other = { op: 'put', entry: { ...entry, id: 'b' } } as const;
      const create = { op: 'create', entry } as const;
      const consume = { op: 'consume', kind: 'AuthorizationCode', id: 'a' } as const;
      const all = { op: 'deleteBy', kind: 'AuthorizationCode', name: 'grant', value: 'g' } as const;
      expect(await store.commit([create, consume])).toBe(true);
      expect((await store.get('AuthorizationCode', 'a'))?.consumedAt).toBeDefined();
      expect(await store.commit([{ op: 'delete', kind: 'AuthorizationCode', id: 'a' }, create])).toBe(true);
      expect(await store.commit([consume, consume])).toBe(false);
      expect((await store.get('AuthorizationCode', 'a'))?.consumedAt).toBeUndefined();
      expect(await store.commit([other, all, consume])).toBe(false);
      expect(await store.findBy('AuthorizationCode', 'grant', 'g')).toHaveLength(1);
      expect(await store.commit([other, all, create])).toBe(true);
      expect(await store.findBy('AuthorizationCode', 'grant', 'g')).toHaveLength(1);
      expect(await store.get('AuthorizationCode', 'b')).toBeUndefined();
    });

    it('counts how often an entry was written, and starts again when it is created again', async () => {
      const revision = async () => (await store.get('AuthorizationCode', 'a'))?.revision;
      const put = { op: 'put', entry: code('a', { expiresAt: inSeconds(10), references: { grant: 'g' } }) } as const;
      await store.commit([put]);
      expect(await revision()).toBe(1);
      await store.commit([put, put]);
      expect(await revision()).toBe(3);
      await store.commit([{ op: 'consume', kind: 'AuthorizationCode', id: 'a' }]);
      expect((await store.findBy('AuthorizationCode', 'grant', 'g')).map((entry) => entry.revision)).toEqual([3]);
      expect((await store.scan(['AuthorizationCode'], undefined, 10)).entries[0]?.revision).toBe(3);
      clock.advance(10);
      await store.commit([{ op: 'create', entry: code('a') }]);
      expect(await revision()).toBe(1);
    });

    it('updates an entry that still has the revision that was read, with everything else in the commit', async () => {
      const name = { kind: 'AuthorizationCode', id: 'a' };
      const first = code('a', { payload: '1', expiresAt: inSeconds(60), references: { grant: 'g', client: 'c' } });
      await store.commit([{ op: 'create', entry: first }]);
      const second = code('a', { payload: '2', expiresAt: inSeconds(90), references: { grant: 'h' } });
      const issue = (id: string) => ({ op: 'put', entry: code(id, { kind: 'AccessToken' }) }) as const;
      expect(await store.commit([issue('one'), { op: 'update', entry: second, revision: 1 }])).toBe(true);
      const entry = await store.get(name.kind, 'a');
      expect(entry).toMatchObject({ payload: '2', expiresAt: inSeconds(90), consumedAt: undefined, revision: 2 });
      expect(Object.keys(entry?.references ?? {})).toEqual(['grant']);
      expect(await store.count(name.kind, 'grant', 'g')).toBe(0);
      expect(await store.count(name.kind, 'client', 'c')).toBe(0);
      expect(await store.count(name.kind, 'grant', 'h')).toBe(1);
      for (const revision of [0, 1, 3])
        expect(await store.commit([issue('two'), { op: 'update', entry: first, revision }])).toBe(false);
      expect(await store.get('AccessToken', 'one')).toBeDefined();
      expect(await store.get('AccessToken', 'two')).toBeUndefined();
      expect(await store.get(name.kind, 'a')).toEqual(entry);
      // A guard sees the mutations before it.
      expect(
        await store.commit([
          { op: 'update', entry: second, revision: 2 },
          { op: 'update', entry: second, revision: 3 },
        ]),
      ).toBe(true);
      expect(await store.commit([{ op: 'consume', ...name }])).toBe(true);
      expect(await store.commit([{ op: 'update', entry: first, revision: 4 }])).toBe(false);
    });

    it('updates no entry that is absent or expired', async () => {
      expect(await store.commit([{ op: 'update', entry: code('none'), revision: 1 }])).toBe(false);
      expect(await store.get('AuthorizationCode', 'none')).toBeUndefined();
      await store.commit([{ op: 'create', entry: code('old', { expiresAt: inSeconds(1) }) }]);
      clock.advance(1);
      expect(await store.commit([{ op: 'update', entry: code('old'), revision: 1 }])).toBe(false);
      expect(await store.get('AuthorizationCode', 'old')).toBeUndefined();
    });

    it('lets one of many updates of the same revision succeed, round after round', async () => {
      await store.commit([{ op: 'create', entry: code('a', { payload: '0' }) }]);
      for (let revision = 1; revision <= 5; revision += 1) {
        const attempts = await Promise.all(
          Array.from({ length: 20 }, (_, at) =>
            store.commit([
              { op: 'update', entry: code('a', { payload: `${revision} ${at}` }), revision },
              { op: 'put', entry: code(`t-${revision}-${at}`, { kind: 'AccessToken', references: { grant: 'g' } }) },
            ]),
          ),
        );
        expect(attempts.filter((won) => won)).toHaveLength(1);
        const entry = await store.get('AuthorizationCode', 'a');
        expect(entry).toMatchObject({ payload: `${revision} ${attempts.indexOf(true)}`, revision: revision + 1 });
      }
      expect(await store.count('AccessToken', 'grant', 'g')).toBe(5);
    });

    it('applies a commit completely or not at all', async () => {
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

    it('writes one token when many commits consume the same code', async () => {
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

    it('finds and deletes entries by each reference, within one kind', async () => {
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

    it('returns the oldest entries first, even if they were overwritten later', async () => {
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

    it('counts the entries that a search would find', async () => {
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

    it('scans the entries of one kind or of all kinds, page by page', async () => {
      const walked = async (kinds: readonly string[] | undefined, limit: number) => {
        const found: string[] = [];
        let from: string | undefined;
        let total: number | undefined;
        do {
          const page = await store.scan(kinds, from, limit);
          found.push(...page.entries.map((entry) => `${entry.kind} ${entry.payload}`));
          total ??= page.total;
          from = page.next;
        } while (from !== undefined);
        return { found: [...new Set(found)].toSorted(), total };
      };
      const put = (kind: string, id: string, expiresAt?: number) =>
        store.commit([{ op: 'put', entry: code(id, { kind, payload: id, expiresAt, references: { grant: 'g' } }) }]);
      expect((await walked(undefined, 3)).found).toEqual([]);
      for (let at = 0; at < 25; at += 1) await put('Client', `c${at}`);
      for (let at = 0; at < 7; at += 1) await put('Grant', `g${at}`, inSeconds(60));
      await put('ClientDocument', 'd');
      await put('Grant', 'gone', inSeconds(10));
      clock.advance(10);
      const clients = Array.from({ length: 25 }, (_, at) => `Client c${at}`).toSorted();
      const { found, total } = await walked(['Client'], 4);
      expect(found).toEqual(clients);
      expect(total).toBeGreaterThanOrEqual(25);
      const grants = Array.from({ length: 7 }, (_, at) => `Grant g${at}`);
      expect((await walked(['Grant'], 100)).found).toEqual(grants);
      expect((await walked(undefined, 5)).found).toEqual([...clients, 'ClientDocument d', ...grants]);
      expect((await walked(['Cl'], 5)).found).toEqual([]);
      const two = await walked(['Grant', 'ClientDocument'], 3);
      expect([two.found, Number(two.total) >= 8]).toEqual([['ClientDocument d', ...grants], true]);

      // A later call may leave kinds out.
      const rest: string[] = [];
      let from = (await store.scan(['Client', 'Grant'], undefined, 4)).next;
      while (from !== undefined) {
        const page = await store.scan(['Grant'], from, 4);
        rest.push(...page.entries.map((entry) => entry.kind));
        from = page.next;
      }
      expect(new Set(rest)).toEqual(new Set(['Grant']));
    });

    describe('within a quota', () => {
      // An entry counts as its payload, which sealing makes longer, plus 1024 bytes.
      const quota = (over: Partial<Quota> = {}): Quota => ({
        name: 'test',
        total: 100_000,
        perClient: 100_000,
        perNetwork: 100_000,
        whenFull: 'evict',
        ...over,
      });
      const charged = (id: string, charge: Partial<Charge>, over: Partial<NewEntry> = {}): NewEntry =>
        code(id, {
          payload: 'x'.repeat(3000),
          ...over,
          charge: { quota: quota(), network: 'n', wider: `wider ${charge.network ?? 'n'}`, client: '', ...charge },
        });
      const put = (entry: NewEntry) => store.commit([{ op: 'put', entry }]);
      const standing = async (...ids: string[]) => {
        const found = await Promise.all(ids.map((id) => store.get('AuthorizationCode', id)));
        return ids.filter((_, at) => found[at] !== undefined);
      };
      const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

      it('evicts the oldest entries of a network over its share, and none of other networks', async () => {
        const small = quota({ perNetwork: 20_000 });
        for (const id of ids('other', 3)) await put(charged(id, { quota: small, network: 'm' }));
        for (const id of ids('own', 12)) await put(charged(id, { quota: small }));
        expect(await standing(...ids('other', 3))).toHaveLength(3);
        const left = await standing(...ids('own', 12));
        expect(left.length).toBeGreaterThanOrEqual(3);
        expect(left.length * 4024).toBeLessThanOrEqual(20_000);
        expect(left).toEqual(ids('own', 12).slice(-left.length));
      });

      it('evicts entries of the network with the most when the quota is full, or an app is over its share', async () => {
        for (const [most, client] of [
          [{ total: 40_000 }, ''],
          [{ perClient: 40_000 }, 'app'],
        ] as const) {
          const name = `full ${client}`;
          const of = (network: string) => ({ quota: quota({ ...most, name }), network, client });
          await put(charged(`${client}quiet`, of('quiet')));
          for (const id of ids(`${client}loud`, 30)) await put(charged(id, of('loud')));
          await put(charged(`${client}last`, of('another')));
          expect(await standing(`${client}quiet`, `${client}last`)).toHaveLength(2);
          const left = await standing(...ids(`${client}loud`, 30));
          expect(left.length).toBeGreaterThanOrEqual(4);
          expect((left.length + 2) * 4024).toBeLessThanOrEqual(40_000);
          expect(left).toEqual(ids(`${client}loud`, 30).slice(-left.length));
        }
      });

      it('limits a wider network to twice the share of a network, and evicts its oldest entries only', async () => {
        const small = quota({ name: 'wider', perNetwork: 20_000 });
        for (const id of ids('other', 3)) await put(charged(id, { quota: small, network: 'm' }));
        for (const [at, id] of ids('own', 30).entries())
          await put(charged(id, { quota: small, network: `n${at}`, wider: 'w' }));
        expect(await standing(...ids('other', 3))).toHaveLength(3);
        const left = await standing(...ids('own', 30));
        expect(left.length).toBeGreaterThanOrEqual(7);
        expect(left.length * 4024).toBeLessThanOrEqual(40_000);
        expect(left).toEqual(ids('own', 30).slice(-left.length));
      });

      it('evicts the oldest of all when no wider network is large, however small the entries are', async () => {
        for (const [most, client] of [
          [{ total: 1_280_000 }, ''],
          [{ perClient: 1_280_000 }, 'app'],
        ] as const) {
          const limit = { perNetwork: 10_000_000, perClient: 10_000_000, total: 10_000_000, ...most };
          const of = (network: string) => ({ quota: quota({ ...limit, name: `small ${client}` }), network, client });
          const attack = ids(`${client}small`, 560);
          const tiny = (id: string) => put(charged(id, of(id), { payload: 'x'.repeat(1400) }));
          for (const id of attack.slice(0, 300)) await tiny(id);
          // Less than a 256th of the quota, and more than each of the others.
          await put(charged(`${client}member`, of('member'), { payload: 'x'.repeat(2700) }));
          for (const id of attack.slice(300)) await tiny(id);
          const left = await standing(...attack);
          expect(left).toEqual(attack.slice(-left.length));
          expect(left.length).toBeLessThan(550);
          expect(await standing(`${client}member`)).toEqual([`${client}member`]);
          // A large wider network loses its own entries first.
          for (const id of ids(`${client}large`, 20))
            await put(charged(id, { ...of(id), wider: 'large' }, { payload: 'x'.repeat(2700) }));
          const before = await standing(...attack);
          for (const id of ids(`${client}more`, 20))
            await put(charged(id, { ...of(id), wider: 'large' }, { payload: 'x'.repeat(2700) }));
          expect(await standing(...attack)).toEqual(before);
          expect(await standing(...ids(`${client}more`, 20))).toEqual([`${client}more19`]);
        }
      });

      it('refuses new entries when nothing may be evicted, and applies no part of the commit', async () => {
        const strict = quota({ total: 20_000, whenFull: 'refuse' });
        const outcomes: string[] = [];
        for (const id of ids('p', 10)) {
          const entry = charged(id, { quota: strict });
          const commit = store.commit([
            { op: 'create', entry },
            { op: 'put', entry: code(`with ${id}`) },
          ]);
          outcomes.push(
            await commit.then(
              () => 'taken',
              (thrown: { code: string }) => thrown.code,
            ),
          );
        }
        const taken = outcomes.filter((outcome) => outcome === 'taken').length;
        expect(outcomes).toEqual([...Array(taken).fill('taken'), ...Array(10 - taken).fill('too_many_requests')]);
        expect(taken).toBeGreaterThanOrEqual(3);
        expect(taken * 4024).toBeLessThanOrEqual(20_000);
        expect(await standing(...ids('p', 10))).toEqual(ids('p', taken));
        expect(await standing(...ids('with p', 10))).toHaveLength(taken);
        // The check for reuse comes first: a used proof is reported as used, even if the quota is full.
        expect(await store.commit([{ op: 'create', entry: charged('p0', { quota: strict }) }])).toBe(false);
        await store.commit([{ op: 'delete', kind: 'AuthorizationCode', id: 'p0' }]);
        expect(await put(charged('again', { quota: strict }))).toBe(true);
      });

      it('counts an updated entry with its new size and charge, and keeps its age', async () => {
        const small = { quota: quota({ name: 'updated', total: 18_000 }) };
        const update = (entry: NewEntry, revision: number) => store.commit([{ op: 'update', entry, revision }]);
        for (const id of ids('u', 3)) await put(charged(id, small, { payload: 'x' }));
        expect(await update(charged('u0', small), 1)).toBe(true);
        // Refused, so it does not count.
        expect(await update(charged('u1', small, { payload: 'x'.repeat(11_000) }), 7)).toBe(false);
        for (const id of ids('v', 3)) await put(charged(id, small));
        expect(await standing(...ids('u', 3), ...ids('v', 3))).toEqual(['u1', 'u2', 'v0', 'v1', 'v2']);
        expect(await update(code('u1', { payload: 'x'.repeat(3000) }), 1)).toBe(true);
        for (const id of ids('w', 4)) await put(charged(id, small));
        expect(await standing('u1', 'u2', 'v2')).toEqual(['u1']);
      });

      it('stops counting entries that were deleted, swept, moved to another quota, or overwritten without one', async () => {
        const small = quota({ total: 20_000 });
        const of = { quota: small };
        const expiresAt = inSeconds(5);
        await put(charged('swept', of, { expiresAt }));
        await put(charged('deleted', of));
        await put(charged('ended', of, { references: { grant: 'g' } }));
        await put(charged('kept', of));
        clock.advance(5);
        await store.sweep(10);
        await store.commit([
          { op: 'delete', kind: 'AuthorizationCode', id: 'deleted' },
          { op: 'deleteBy', kind: 'AuthorizationCode', name: 'grant', value: 'g' },
          { op: 'put', entry: code('kept', { payload: 'x'.repeat(3000) }) },
        ]);
        await put(charged('moved', of));
        await put(charged('moved', { quota: quota({ name: 'elsewhere' }) }));
        for (const id of ids('new', 3)) await put(charged(id, of));
        expect(await standing('kept', 'moved', ...ids('new', 3))).toHaveLength(5);
      });

      it('keeps the age of an overwritten entry, counts its new size, and counts nothing of a failed commit', async () => {
        const small = quota({ total: 18_000 });
        const of = { quota: small };
        for (const id of ids('c', 3)) await put(charged(id, of, { payload: 'x' }));
        await put(charged('c0', of));
        await store.commit([
          { op: 'put', entry: charged('never', of, { payload: 'x'.repeat(11_000) }) },
          { op: 'consume', kind: 'AuthorizationCode', id: 'nobody' },
        ]);
        expect(await standing('never', ...ids('c', 3))).toEqual(ids('c', 3));
        for (const id of ids('d', 3)) await put(charged(id, of));
        expect(await standing(...ids('c', 3), ...ids('d', 3))).toEqual(['c1', 'c2', 'd0', 'd1', 'd2']);
      });
    });

    it('sweeps only expired entries, in batches', async () => {
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

/** Further tests for stores that are used below the seal. */
export function rawStoreConformance(name: string, open: (clock: () => number) => RawStore | Promise<RawStore>): void {
  describe(`${name} store, below the seal`, () => {
    it('replaces a payload only if it is unchanged since it was read, and nothing else', async () => {
      const clock = testClock();
      const store = await open(clock.now);
      const expiresAt = Math.floor(clock.now() / 1000) + 60;
      const entry = code('a', { payload: 'one', expiresAt, references: { grant: 'g' } });
      await store.commit([
        { op: 'put', entry },
        { op: 'consume', kind: entry.kind, id: 'a' },
      ]);
      const [read] = await store.findBy(entry.kind, 'grant', 'g');
      const replace = (was: string, payload: string, id = 'a') =>
        store.commit([{ op: 'replace', kind: entry.kind, id: read === undefined ? '' : id, was, payload }]);
      expect(await replace('another', 'two')).toBe(true);
      expect((await store.get(entry.kind, 'a'))?.payload).toBe('one');
      expect(await replace('one', 'two')).toBe(true);
      expect(await store.findBy(entry.kind, 'grant', 'g')).toEqual([{ ...read, payload: 'two' }]);
      expect(read?.revision).toBe(1);
      expect(await replace('one', 'two', 'b')).toBe(true);
      expect(await store.get(entry.kind, 'b')).toBeUndefined();
      clock.advance(60);
      expect(await store.get(entry.kind, 'a')).toBeUndefined();
      await store.close();
    });

    it('restores entries as they were scanned, in the order of their quota, and evicts nothing', async () => {
      const clock = testClock();
      const store = await open(clock.now);
      const all = async () => {
        const { entries, next } = await store.scan(undefined, undefined, 1000);
        expect(next).toBeUndefined();
        return entries.toSorted((a, b) => (a.id < b.id ? -1 : 1));
      };
      const quota: Quota = { name: 'q', total: 9000, perClient: 9000, perNetwork: 9000, whenFull: 'evict' };
      const charged = (id: string, total = 9000) => {
        const charge = { quota: { ...quota, total }, network: 'n', wider: 'w', client: 'c' };
        return { op: 'put', entry: code(id, { kind: 'Interaction', payload: 'x'.repeat(1000), charge }) } as const;
      };
      const references = { grant: 'g', member: 'm', client: 'c', uid: 'u' };
      const used = code('used', { expiresAt: Math.floor(clock.now() / 1000) + 60, references });
      await store.commit([{ op: 'create', entry: used }]);
      await store.commit([{ op: 'update', entry: used, revision: 1 }]);
      await store.commit([{ op: 'consume', kind: used.kind, id: 'used' }]);
      // Neither by name nor backwards is this the order of the ids.
      for (const id of ['c2', 'c4', 'c1', 'c3']) await store.commit([charged(id)]);
      const before = await all();
      expect(before).toMatchObject([
        ...['c1', 'c2', 'c3', 'c4'].map((id) => ({
          id,
          charge: { quota: 'q', network: 'n', wider: 'w', client: 'c' },
        })),
        { ...used, consumedAt: Math.floor(clock.now() / 1000), revision: 2, charge: undefined },
      ]);

      await store.commit([
        ...before.slice(1).map(({ kind, id }) => ({ op: 'delete', kind, id }) as const),
        { op: 'put', entry: code('c1', { kind: 'Interaction', payload: 'another' }) },
      ]);
      const aged = (age: number | undefined) => (age ?? 0) - 2 ** 40;
      const restored = before.map((entry) => ({
        ...entry,
        charge: entry.charge && { ...entry.charge, age: aged(entry.charge.age) },
      }));
      for (const entry of restored) expect(await store.commit([{ op: 'restore', ...entry }])).toBe(true);
      expect(await all()).toEqual(restored);
      // Once more, as a copy does that got no answer.
      expect(await store.commit(restored.map((entry) => ({ op: 'restore', ...entry })))).toBe(true);
      expect(await all()).toEqual(restored);
      expect(await store.count(used.kind, 'grant', 'g')).toBe(1);
      expect(await store.commit([{ op: 'consume', kind: used.kind, id: 'used' }])).toBe(false);

      // They count, and are evicted in their order, before what is written later.
      const standing = async () => (await all()).map(({ id }) => id);
      await store.commit([charged('d1', 8500)]);
      expect(await standing()).toEqual(['c1', 'c3', 'c4', 'd1', 'used']);
      await store.commit([charged('d2', 8500)]);
      expect(await standing()).toEqual(['c1', 'c3', 'd1', 'd2', 'used']);
      await store.commit([charged('d3', 8500)]);
      expect(await standing()).toEqual(['c3', 'd1', 'd2', 'd3', 'used']);
      clock.advance(60);
      expect(await store.sweep(10)).toBe(1);
      await store.close();
    });
  });
}
