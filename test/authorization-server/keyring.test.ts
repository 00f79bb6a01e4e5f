import { describe, expect, it } from 'vitest';
import { openKeyring } from '../../src/authorization-server/keyring.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';
import { testClock } from '../storage/conformance.ts';

const DAY = 86_400;

describe('the keyring', () => {
  const open = async () => {
    const clock = testClock();
    const store = memoryStore(clock.now);
    return { clock, store, keyring: await openKeyring(store, clock.now, () => 90 * DAY) };
  };
  type Keyring = Awaited<ReturnType<typeof open>>['keyring'];
  const kids = (keyring: Keyring, only?: string) =>
    keyring
      .privateKeys()
      .filter(({ alg }) => only === undefined || alg === only)
      .map(({ kid }) => kid);
  const ofEach = (keyring: Keyring) => [kids(keyring, 'ES256'), kids(keyring, 'RS256')] as const;

  it('publishes the next key of each algorithm before it is used, and the previous one after', async () => {
    const { keyring } = await open();
    const [[first, second], [rsaFirst, rsaSecond]] = ofEach(keyring);
    expect(keyring.signing().kid).toBe(first);
    expect(keyring.signers()).toEqual([first, rsaFirst]);
    await keyring.rotate();
    expect(keyring.signing().kid).toBe(second);
    expect(keyring.signers()).toEqual([second, rsaSecond]);
    expect(ofEach(keyring)).toEqual([
      [second, expect.any(String), first],
      [rsaSecond, expect.any(String), rsaFirst],
    ]);
    await keyring.rotate();
    expect(ofEach(keyring)).toEqual([
      [expect.any(String), expect.any(String), second, first],
      [expect.any(String), expect.any(String), rsaSecond, rsaFirst],
    ]);
  });

  it('lists no private part of a key', async () => {
    const { keyring } = await open();
    const members = keyring.list().map(({ publicKey }) => Object.keys(publicKey).toSorted().join(' '));
    expect(members).toEqual([...Array(2).fill('alg crv kid kty use x y'), ...Array(2).fill('alg e kid kty n use')]);
    for (const { n } of keyring.privateKeys())
      expect([undefined, 256]).toContain(n && Buffer.from(n, 'base64url').length);
  });

  it('lists when each key begins and ends to sign', async () => {
    const { clock, keyring } = await open();
    const now = Math.floor(clock.now() / 1000);
    for (const key of keyring.list()) {
      expect([key.state, key.since, key.until]).toEqual([key.state, now, now + 90 * DAY]);
    }
  });

  it('keeps the other retired keys when one is removed', async () => {
    const { keyring } = await open();
    const [first = '', second = ''] = kids(keyring, 'ES256');
    await keyring.rotate();
    await keyring.rotate();
    expect(await keyring.remove(first)).toBe(true);
    expect(kids(keyring, 'ES256')).not.toContain(first);
    expect(kids(keyring, 'ES256')).toContain(second);
  });

  it('publishes a retired key for one more day', async () => {
    const { clock, keyring } = await open();
    const [first] = kids(keyring);
    await keyring.rotate();
    expect(keyring.list().find(({ kid }) => kid === first)).toMatchObject({ state: 'verifying' });
    clock.advance(DAY - 1);
    expect(kids(keyring)).toContain(first);
    const version = keyring.version();
    clock.advance(1);
    expect(kids(keyring)).not.toContain(first);
    // The version changes, so that cached key sets are published again.
    expect(keyring.version()).not.toBe(version);
  });

  it('does not use a key that verifiers may not have yet, unless forced', async () => {
    const { clock, keyring } = await open();
    const [first, second] = kids(keyring);
    clock.advance(3599);
    expect(await keyring.rotate(false)).toBe(1);
    expect(keyring.signing().kid).toBe(first);
    clock.advance(1);
    expect(await keyring.rotate(false)).toBe(0);
    expect(keyring.signing().kid).toBe(second);
    expect(await keyring.rotate(false)).toBe(3600);
    expect(await keyring.rotate(true)).toBe(0);
  });

  it.each(['ES256', 'RS256'])('removes any key of %s at once, for every replica', async (alg) => {
    const { clock, store, keyring } = await open();
    const replica = await openKeyring(store, clock.now, () => 90 * DAY);
    const [first = '', second = ''] = kids(keyring, alg);
    await keyring.rotate();
    const third = kids(keyring, alg)[1] ?? '';
    const others = ofEach(keyring).filter((own) => !own.includes(first));
    for (const [gone, signing] of [
      [first, second],
      [third, second],
      [second, expect.any(String)],
    ] as const) {
      expect(await keyring.remove(gone)).toBe(true);
      expect(kids(keyring)).not.toContain(gone);
      expect(kids(keyring, alg)[0]).toEqual(signing);
      expect(keyring.signers()).toContain(kids(keyring, alg)[0]);
      expect(await replica.refresh()).toBe(true);
      expect(kids(replica)).toEqual(kids(keyring));
    }
    expect(kids(keyring, alg)).toHaveLength(2);
    expect(await keyring.remove(first)).toBe(false);
    // Keys of the other algorithm are left as they were.
    expect(ofEach(keyring).filter((own) => !own.includes(String(kids(keyring, alg)[0])))).toEqual(others);
    // Two replicas remove different keys at the same time: both keys are gone.
    const [signing = '', next = ''] = kids(keyring, alg);
    await Promise.all([keyring.remove(signing), replica.remove(next)]);
    await keyring.refresh();
    for (const gone of [signing, next]) expect(kids(keyring)).not.toContain(gone);
  });

  it('rotates automatically when the signing key is old', async () => {
    const { clock, keyring } = await open();
    const [[first, second], [rsaFirst, rsaSecond]] = ofEach(keyring);
    clock.advance(90 * DAY - 1);
    expect(await keyring.refresh()).toBe(false);
    expect(keyring.signers()).toEqual([first, rsaFirst]);
    clock.advance(1);
    expect(await keyring.refresh()).toBe(true);
    expect(keyring.signers()).toEqual([second, rsaSecond]);
    expect(await keyring.refresh()).toBe(false);
  });

  it('is the same for all replicas, even if they start or rotate at the same time', async () => {
    const clock = testClock();
    const store = memoryStore(clock.now);
    const [a, b] = await Promise.all([
      openKeyring(store, clock.now, () => DAY),
      openKeyring(store, clock.now, () => DAY),
    ]);
    expect(kids(a)).toEqual(kids(b));
    clock.advance(DAY);
    await Promise.all([a.refresh(), b.refresh()]);
    expect(kids(a)).toEqual(kids(b));
    await a.rotate();
    expect(await b.refresh()).toBe(true);
    expect(kids(a)).toEqual(kids(b));
  });

  it('adopts earlier keys when the store is restored from a backup', async () => {
    const { store, keyring } = await open();
    const before = kids(keyring);
    const { entries } = await store.scan(undefined, undefined, 100);
    await keyring.rotate();
    expect(kids(keyring)).not.toEqual(before);
    await store.commit(entries.map((entry) => ({ op: 'restore', ...entry })));
    expect(await keyring.refresh()).toBe(true);
    expect(kids(keyring)).toEqual(before);
  });

  it('is the same after a restart', async () => {
    const { clock, store, keyring } = await open();
    await keyring.rotate();
    const reopened = await openKeyring(store, clock.now, () => 90 * DAY);
    expect(kids(reopened)).toEqual(kids(keyring));
  });
});
