import { createSecretKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { adapterFactory } from '../../src/authorization-server/adapter.ts';
import { familyEntry, findInFamily } from '../../src/authorization-server/refresh-family.ts';
import { refreshTokens } from '../../src/authorization-server/refresh-token.ts';
import { NO_OUTBOX } from '../../src/events/outbox.ts';
import { memoryStore } from '../../src/storage/memory/memory-store.ts';

const key = (byte: number) => createSecretKey(Buffer.alloc(32, byte));
const tokens = refreshTokens(key(1));

describe('a refresh token', () => {
  it('names its family and generation, and nothing else is one', () => {
    const first = tokens.issue(0);
    expect(first).toMatch(/^r1_[A-Za-z0-9_-]{72}$/);
    const { family = '' } = tokens.read(first) ?? {};
    expect(family).toMatch(/^[\w-]{22}$/);
    expect(tokens.read(tokens.issue(4_294_967_295, family))).toEqual({ family, generation: 4_294_967_295 });
    expect(tokens.issue(1, family)).not.toBe(tokens.issue(1, family));
    for (const other of [
      '',
      family,
      `r1_${family}`,
      first.slice(0, -1),
      `${first}A`,
      `${first}=`,
      ` ${first}`,
      `r2${first.slice(2)}`,
    ])
      expect(tokens.read(other), other).toBeUndefined();
  });

  it('is not known when any of its characters is another', () => {
    const first = tokens.issue(7);
    for (let at = 3; at < first.length; at += 1) {
      const changed = `${first.slice(0, at)}${first[at] === 'A' ? 'B' : 'A'}${first.slice(at + 1)}`;
      expect(tokens.read(changed), changed).toBeUndefined();
    }
  });

  it('is known by the key that it was issued with, and by no other', () => {
    const first = tokens.issue(0);
    expect(refreshTokens(key(1)).read(first)).toEqual(tokens.read(first));
    expect(refreshTokens(key(2)).read(first)).toBeUndefined();
  });
});

describe('the record of a family', () => {
  const NOW = 1_800_000_000;
  const first = tokens.issue(0);
  const { family = '' } = tokens.read(first) ?? {};
  const second = tokens.issue(1, family);
  const payload = {
    iat: NOW,
    exp: NOW + 60,
    iiat: NOW - 60,
    grantId: 'g',
    kind: 'RefreshToken',
    jti: second,
    rotations: 1,
    jkt: 'k',
  };
  const entry = familyEntry({ family, generation: 1 }, second, payload);
  const stored = { ...entry, consumedAt: undefined, revision: 2 };
  const found = (value: string) => findInFamily(stored, value, tokens.read(value) ?? { family, generation: 0 });

  it('holds no token, and returns all that was saved of the present one', () => {
    expect(stored.id).toBe(family);
    for (const text of [second, second.slice(30)]) expect(stored.payload).not.toContain(text);
    expect(found(second)).toEqual({ kind: 'present', payload });
  });

  it('knows earlier tokens as used and bound as the present one, whoever made their generation', () => {
    expect(found(first)).toEqual({ kind: 'used', payload: { ...payload, jti: first } });
    // A leaked key makes no token that is accepted.
    expect(found(tokens.issue(1, family)).kind).toBe('used');
    expect(found(tokens.issue(2, family)).kind).toBe('ahead');
  });
});

describe('oidc-provider', () => {
  it('reads nothing from the store for a refresh token that the gate did not issue', async () => {
    const inner = memoryStore(Date.now);
    const asked: string[] = [];
    const adapter = adapterFactory({
      store: {
        ...inner,
        get(kind, id) {
          asked.push(id);
          return inner.get(kind, id);
        },
      },
      ...{ clock: Date.now, onRevoked: () => {}, unusedLifetime: 60, replayWindow: 10, outbox: NO_OUTBOX },
      ...{ redirects: { schemes: [], allow: [], deny: [] }, refreshTokens: tokens },
    })('RefreshToken');
    const forged = refreshTokens(key(2)).issue(0);
    for (const value of [forged, 'x', 'x'.repeat(50_000), 'x'.repeat(22)])
      expect(await adapter.find(value)).toBeUndefined();
    expect(asked).toEqual([]);
    const issued = tokens.issue(0);
    await adapter.find(issued);
    expect(asked).toEqual([tokens.read(issued)?.family]);
  });
});
