import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openKeyring } from '../../src/authorization-server/keyring.ts';
import { redisStore } from '../../src/storage/redis.ts';
import { sealedStore } from '../../src/storage/seal.ts';
import { memoryStore, sqliteStore } from '../../src/storage/sqlite.ts';
import type { Store } from '../../src/storage/store.ts';
import { type RedisServer, redisPresent, startRedis } from '../support/redis.ts';

const DAY = 86_400;
const SECRET = 'x'.repeat(32);

/** What a version with ES256 only reads and writes: these entries, with these members. */
interface Es256Only {
  readonly version: number;
  readonly since: number;
  readonly current: { readonly kid: string };
  readonly next: { readonly kid: string };
  readonly nextSince: number;
  readonly retired: readonly { readonly key: { readonly kid: string } }[];
}

let made = 0;
const key = () => {
  const { kty, crv, x, y, d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
  made += 1;
  return { kty, crv, x, y, d, alg: 'ES256', use: 'sig', kid: `before-${made}` };
};
const now = () => Math.floor(Date.now() / 1000);
const put = async (store: Store, generation: Es256Only) => {
  const entry = { kind: 'SigningKeys', payload: JSON.stringify(generation), expiresAt: undefined, references: {} };
  return store.commit([
    { op: 'create', entry: { ...entry, id: `generation-${generation.version}` } },
    { op: 'put', entry: { ...entry, id: 'current' } },
  ]);
};
const read = async (store: Store): Promise<Es256Only> =>
  JSON.parse((await store.get('SigningKeys', 'current'))?.payload ?? '{}');

const STORES = ['memory', 'sqlite', ...(redisPresent() ? ['redis'] : [])];

describe.each(STORES)('a store in %s written by a version that knows only ES256', (kind) => {
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-keyring-'));
  let redis: RedisServer | undefined;
  let inner: Store;
  let store: Store;
  beforeAll(async () => {
    redis = kind === 'redis' ? await startRedis() : undefined;
    const path = join(folder, 'coursegate.db');
    const raw =
      redis !== undefined
        ? redisStore({ url: redis.url, keyPrefix: 'gate' }, Date.now)
        : kind === 'sqlite'
          ? sqliteStore(path, Date.now)
          : memoryStore(Date.now);
    inner = raw;
    store = sealedStore(raw, SECRET);
    const since = now() - 30 * DAY;
    const retired = [{ key: key(), since: now() - 60, until: now() + DAY }];
    await put(store, { version: 3, since, current: key(), next: key(), nextSince: since, retired } as Es256Only);
  });
  afterAll(async () => {
    await inner.close();
    await redis?.close();
    rmSync(folder, { recursive: true });
  });

  const open = () => openKeyring(store, Date.now, () => 90 * DAY);
  const kids = (keyring: Awaited<ReturnType<typeof open>>, of: string) =>
    keyring
      .privateKeys()
      .filter(({ alg }) => alg === of)
      .map(({ kid }) => kid);

  it('keeps its keys, and gets the same RSA keys from gates that start together', async () => {
    const before = await read(store);
    const [a, b] = await Promise.all([open(), open()]);
    for (const one of [a, b, await open()]) {
      const retired = before.retired.map((gone) => gone.key.kid);
      expect(kids(one, 'ES256')).toEqual([before.current.kid, before.next.kid, ...retired]);
      expect(one.signing().kid).toBe(before.current.kid);
      expect(kids(one, 'RS256')).toEqual(kids(a, 'RS256'));
    }
    expect(kids(a, 'RS256')).toHaveLength(2);
    expect(await read(store)).toEqual(before);
  });

  it('stays readable for that version after a rotation, and rotations by that version are adopted', async () => {
    const keyring = await open();
    const rsa = kids(keyring, 'RS256');
    await keyring.rotate();
    const read1 = await read(store);
    expect(Object.keys(read1).toSorted()).toEqual(['current', 'next', 'nextSince', 'retired', 'since', 'version']);
    expect(read1.version).toBe(4);
    const all = [read1.current, read1.next, ...read1.retired.map((one) => one.key)];
    expect(all.map((one) => one.kid)).toEqual(kids(keyring, 'ES256'));
    for (const one of all) expect(one).toMatchObject({ kty: 'EC', alg: 'ES256' });
    expect(kids(keyring, 'RS256')).toEqual([rsa[1], expect.any(String), rsa[0]]);

    const after = kids(keyring, 'RS256');
    const next = key();
    const retired = [{ key: read1.current, since: now(), until: now() + DAY }];
    const rotated = { version: 5, since: now(), current: read1.next, next, nextSince: now(), retired };
    expect(await put(store, rotated)).toBe(true);
    expect(await keyring.refresh()).toBe(true);
    expect(kids(keyring, 'ES256')).toEqual([read1.next.kid, next.kid, read1.current.kid]);
    expect(kids(keyring, 'RS256')).toEqual(after);
    // One commit for both algorithms that loses to the other version's is made again.
    expect(await put(store, { ...rotated, version: 6 })).toBe(true);
    await keyring.rotate();
    expect(keyring.signers()).toEqual([next.kid, after[1]]);
    expect((await read(store)).version).toBe(7);
  });
});
