import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { decompressed } from '../../src/storage/compression.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import type { Quota } from '../../src/storage/quota.ts';
import { deriveKey, schoolSecrets, sealed, sealedStore } from '../../src/storage/seal.ts';
import type { Mutation, Store } from '../../src/storage/store.ts';
import { storeConformance, testClock } from './conformance.ts';

const SECRET = 'a secret of at least thirty-two bytes, for tests';

storeConformance('sealed', (clock) => sealedStore(memoryStore(clock), SECRET));

/** A store that also records everything it receives. */
function spied() {
  const inner = memoryStore(testClock().now);
  const written: Mutation[] = [];
  const commits: number[] = [];
  return {
    written,
    /** The number of mutations of each commit. */
    commits,
    store: {
      ...inner,
      commit(mutations: readonly Mutation[]) {
        written.push(...mutations);
        commits.push(mutations.length);
        return inner.commit(mutations);
      },
    },
  };
}

describe('a sealed store', () => {
  const put: Extract<Mutation, { op: 'put' }> = {
    op: 'put',
    entry: {
      kind: 'AccessToken',
      id: 'the-bearer-token',
      payload: '{"accountId":"m-1001","secret":"hunter2"}',
      expiresAt: undefined,
      references: { member: 'm-1001', client: 'the-client', grant: 'the-grant' },
    },
  };

  it('writes no token, member, client, grant or content in plain text', async () => {
    const { store, written } = spied();
    await sealedStore(store, SECRET).commit([put]);
    const dump = JSON.stringify(written);
    for (const word of ['the-bearer-token', 'm-1001', 'the-client', 'the-grant', 'hunter2', 'accountId']) {
      expect(dump).not.toContain(word);
    }
  });

  it('cannot be opened with anything that a dump contains', async () => {
    const { store, written } = spied();
    const one = sealedStore(store, SECRET);
    await one.commit([put]);
    const stored = written[0] as Extract<Mutation, { op: 'put' }>;
    expect(await one.get('AccessToken', stored.entry.id)).toBeUndefined();
    expect((await one.get('AccessToken', 'the-bearer-token'))?.payload).toContain('hunter2');
  });

  it('compresses what is kept for long, and neither what strangers cause nor what each refresh writes', async () => {
    const { store, written } = spied();
    const one = sealedStore(store, SECRET);
    const payload = JSON.stringify({ scope: 'courses:read courses:write '.repeat(40) });
    const quota: Quota = { name: 'q', total: 1e6, perClient: 1e6, perNetwork: 1e6, whenFull: 'evict' };
    const charge = { quota, network: 'n', wider: 'w', client: '' };
    const long = { ...put.entry, kind: 'Grant', payload };
    await one.commit([
      { op: 'put', entry: long },
      { op: 'put', entry: { ...long, id: 'charged', charge } },
      { op: 'put', entry: { ...long, kind: 'AccessToken' } },
      { op: 'put', entry: { ...long, kind: 'RefreshToken' } },
    ]);
    const sizes = written.flatMap((mutation) =>
      mutation.op === 'put' && mutation.entry.kind !== 'StoreKeys' ? mutation.entry.payload.length : [],
    );
    expect(sizes[0]).toBeLessThan(200);
    expect(sizes.slice(1).every((size) => size > payload.length)).toBe(true);
    for (const [kind, id] of [
      ['Grant', put.entry.id],
      ['Grant', 'charged'],
      ['AccessToken', put.entry.id],
    ] as const)
      expect((await one.get(kind, id))?.payload).toBe(payload);
  });

  it('compresses with the same dictionary as ever, byte for byte', () => {
    // All of the dictionary, compressed.
    const text = decompressed(Buffer.from('Sxwtr0fL69HyerS8Hi2vh0R5DQA=', 'base64'));
    expect(createHash('sha256').update(text).digest('base64url')).toBe('doS4hUNdPvNfIruPBNhZvSQ_syGA7RP4oGakEMX6Zf0');
  });

  it('reads what earlier versions have written, and finds it by the same hashes', async () => {
    const references = {
      grant: 'eFdCVLxipSbvtdlavIpsOw',
      member: '-GO4o_X5BJY0ScHDEynOkQ',
      client: 'IpAbRB6psGQu_H9Pq2H3cQ',
      uid: 'vYnojTREt72XMBPzS5MCPg',
    };
    const stored = (kind: string, id: string, payload: string, more: object = references): Mutation => ({
      op: 'put',
      entry: { kind, id, payload, expiresAt: undefined, references: more },
    });
    const { store, written } = spied();
    await store.commit([
      stored('StoreKeys', 'index', 'wU65NC7KsNK63QC5r+5yEgtWPVAeQ6qvTA02jKtG+uH3XEYMKSlYWHH49Xdvoqd+10A=', {}),
      stored(
        'AccessToken',
        'lCKK-owjZcVIlYX169svSA',
        '7c4fxq6ywSdyYdfZYipNqtCE1edvEbMJaDav/r6Ehd/9FA8NzszDeD0eHRVhZA/Zuu2JcZseU0xc+91z86RcjTXILX0s',
      ),
      stored('Grant', 'RRQkOZAxSm2q5f2JJS601Q', '.vfDKzh0CZ7CxMgBGTMHWfR0t2QP2bqtnxoJKwoqnVfdEwxWMLPyEzUA='),
    ]);
    const one = sealedStore(store, SECRET);
    const { payload } = put.entry;
    expect(await one.get('AccessToken', 'the-bearer-token')).toMatchObject({ payload });
    const scope = 'courses:read courses:write '.repeat(5);
    expect(await one.get('Grant', 'the-bearer-token')).toMatchObject({ payload: JSON.stringify({ scope }) });
    const of = { ...put.entry.references, uid: 'the-uid' };
    for (const [name, value] of Object.entries(of) as [keyof typeof of, string][]) {
      expect(await one.findBy('AccessToken', name, value), name).toMatchObject([{ payload }]);
      expect(await one.count('AccessToken', name, value), name).toBe(1);
    }

    written.length = 0;
    const quota: Quota = { name: 'q', total: 1e6, perClient: 1e6, perNetwork: 1e6, whenFull: 'evict' };
    const charge = { quota, network: 'n', wider: 'w', client: 'the-client' };
    await one.commit([{ op: 'put', entry: { ...put.entry, references: of, charge } }]);
    await one.commit([{ op: 'put', entry: { ...put.entry, charge: { ...charge, client: '' } } }]);
    const charged = { quota, network: 'yREA7QL1gUVHvYlrOIrBSg', wider: 'zaWl0JvO-bdBHpmWTPrAHA' };
    expect(written).toMatchObject([
      { entry: { id: 'lCKK-owjZcVIlYX169svSA', references, charge: { ...charged, client: references.client } } },
      { entry: { charge: { ...charged, client: '' } } },
    ]);
  });

  it('has the same keys as ever for each purpose, and for a school', () => {
    const key = deriveKey(SECRET, 'store-payload').export().toString('base64url');
    expect(key).toBe('F-a_Gr318yO6UnHanwDpleVG6RrVf7KxC9HBcVqm6m8');
    const [own, further] = ['HGXDgHvX4bE1GVbb4L1IXLR8YdWBBO2rjcfD1BOfM8Q', expect.not.stringMatching(/^HGX/)];
    expect(schoolSecrets([SECRET, 'x'.repeat(32)], 'abc')).toEqual([own, further]);
  });

  it('writes only what the first secret does not seal yet when it is resealed', async () => {
    const { store, commits } = spied();
    await sealedStore(store, SECRET).commit([put]);
    commits.length = 0;
    const { reseal } = sealed(store, ['x'.repeat(32), SECRET]);
    expect(await reseal(undefined, 100)).toMatchObject({ resealed: 2, unreadable: 0, next: undefined });
    expect(commits).toEqual([2]);
    // A commit waits for the disk, even an empty one.
    expect(await reseal(undefined, 100)).toMatchObject({ resealed: 0, unreadable: 0, next: undefined });
    expect(commits).toEqual([2]);
  });

  it('refuses another secret, and reports a moved entry as absent', async () => {
    const { store } = spied();
    const one = sealedStore(store, SECRET);
    await one.commit([put]);
    const other = sealedStore(store, 'another secret of at least thirty-two bytes!');
    // Nothing can be read with this secret, and nothing is written.
    const ill = expect.objectContaining({
      code: 'store_unavailable',
      message: expect.stringMatching(/a secret that is not configured/),
    });
    await expect(other.get('AccessToken', 'the-bearer-token')).rejects.toThrow(ill);
    await expect(other.commit([put])).rejects.toThrow(ill);
    expect(await sealedStore(store, ['x'.repeat(32), SECRET]).get('AccessToken', 'the-bearer-token')).toBeDefined();

    const entries = memoryStore(testClock().now);
    const swapped: Store = {
      ...entries,
      get: async (kind, at) =>
        kind === 'StoreKeys'
          ? entries.get(kind, at)
          : {
              kind,
              id: 'x',
              payload: 'AAAA',
              expiresAt: undefined,
              consumedAt: undefined,
              revision: 1,
              references: {},
            },
    };
    const told: string[] = [];
    const damaged = sealedStore(swapped, SECRET, (kind) => told.push(kind));
    expect(await damaged.get('AccessToken', 'a')).toBeUndefined();
    expect(told).toEqual(['AccessToken']);
  });
});
