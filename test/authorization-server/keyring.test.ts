import { describe, expect, it } from 'vitest';
import { openKeyring } from '../../src/authorization-server/keyring.ts';
import { memoryStore } from '../../src/storage/memory.ts';
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
    expect(kids(keyring)).not.toContain(first);
    expect(kids(keyring)).toContain(second);
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

  it('is one ring for all replicas, also when they start or rotate together', async () => {
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
