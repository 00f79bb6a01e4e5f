import { describe, expect, it } from 'vitest';
import { openKeyring } from '../../src/authorization-server/keyring.ts';
import { memoryStore } from '../../src/storage/sqlite.ts';
import { testClock } from '../storage/conformance.ts';

const DAY = 86_400;

describe('the keyring', () => {
  const open = async () => {
    const clock = testClock();
    const store = memoryStore(clock.now);
    return { clock, store, keyring: await openKeyring(store, clock.now, () => 90 * DAY) };
  };
  const kids = (keyring: Awaited<ReturnType<typeof open>>['keyring']) => keyring.privateKeys().map(({ kid }) => kid);

  it('publishes the next key before it signs, and the previous one after', async () => {
    const { keyring } = await open();
    const [first, second] = kids(keyring);
    expect(keyring.signing().kid).toBe(first);
    await keyring.rotate();
    expect(keyring.signing().kid).toBe(second);
    expect(kids(keyring)).toEqual([second, expect.any(String), first]);
    await keyring.rotate();
    expect(kids(keyring)).toEqual([expect.any(String), expect.any(String), second, first]);
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

  it('does not sign with a key that verifiers may not have yet, unless it must', async () => {
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

  it('removes any key at once, for every replica', async () => {
    const { clock, store, keyring } = await open();
    const replica = await openKeyring(store, clock.now, () => 90 * DAY);
    const [first = '', second = ''] = kids(keyring);
    await keyring.rotate();
    const third = kids(keyring)[1] ?? '';
    for (const [gone, signing] of [
      [first, second],
      [third, second],
      [second, expect.any(String)],
    ] as const) {
      expect(await keyring.remove(gone)).toBe(true);
      expect(kids(keyring)).not.toContain(gone);
      expect(keyring.signing().kid).toEqual(signing);
      expect(await replica.refresh()).toBe(true);
      expect(kids(replica)).toEqual(kids(keyring));
    }
    expect(kids(keyring)).toHaveLength(2);
    expect(await keyring.remove(first)).toBe(false);
    // Two replicas remove different keys at the same time: both keys are gone.
    const [signing = '', next = ''] = kids(keyring);
    await Promise.all([keyring.remove(signing), replica.remove(next)]);
    await keyring.refresh();
    for (const gone of [signing, next]) expect(kids(keyring)).not.toContain(gone);
  });

  it('rotates by itself when the signing key is old, and not before', async () => {
    const { clock, keyring } = await open();
    const [first, second] = kids(keyring);
    clock.advance(90 * DAY - 1);
    expect(await keyring.refresh()).toBe(false);
    expect(keyring.signing().kid).toBe(first);
    clock.advance(1);
    expect(await keyring.refresh()).toBe(true);
    expect(keyring.signing().kid).toBe(second);
    expect(await keyring.refresh()).toBe(false);
  });

  it('is the same for all replicas, even when they start or rotate together', async () => {
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

  it('is the same after a restart', async () => {
    const { clock, store, keyring } = await open();
    await keyring.rotate();
    const reopened = await openKeyring(store, clock.now, () => 90 * DAY);
    expect(kids(reopened)).toEqual(kids(keyring));
  });
});
