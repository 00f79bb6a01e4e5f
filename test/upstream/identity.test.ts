import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { decodeJwt, decodeProtectedHeader, generateKeyPair, jwtVerify } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { ANONYMOUS, type MemberPrincipal } from '../../src/oauth/principal.ts';
import { createIdentity, type IdentityFor } from '../../src/upstream/identity.ts';

const { privateKey, publicKey } = await generateKeyPair('ES256');
const NOON = Date.UTC(2026, 10, 21, 12);

const member: MemberPrincipal = {
  kind: 'member',
  sub: 'm-1',
  details: { email: 'student@example.com', name: 'Student' },
  scope: new Set(['courses:read', 'orders:read']),
  clientId: 'https://client.example/meta',
  grantId: 'grant-1',
};

let now: number;
let signed: number;
let identity: IdentityFor;
beforeEach(() => {
  now = NOON;
  signed = 0;
  const signingKey = async () => {
    signed += 1;
    return { kid: 'key-1', key: privateKey };
  };
  identity = createIdentity({ issuer: 'https://school.example', signingKey, clock: () => now });
});

const assertionOf = async (who: MemberPrincipal, upstream = 'school') =>
  (await identity(who, upstream, ['assertion']))['X-Coursegate-Assertion'] ?? '';

describe('the assertion', () => {
  it('is signed again as soon as the signing key changes', async () => {
    let kid = 'key-1';
    const signing = createIdentity({
      issuer: 'https://school.example',
      signingKey: async () => ({ kid, key: privateKey }),
      kid: () => kid,
      clock: () => now,
    });
    const kidOf = async (who: MemberPrincipal) =>
      decodeProtectedHeader((await signing(who, 'school', ['assertion']))['X-Coursegate-Assertion'] ?? '').kid;
    expect(await kidOf(member)).toBe('key-1');
    kid = 'key-2';
    // The same principal object, and another one of the same grant: they are cached differently.
    expect(await kidOf(member)).toBe('key-2');
    kid = 'key-3';
    expect(await kidOf({ ...member })).toBe('key-3');
  });

  it('is an ES256 JWT that a backend can verify', async () => {
    const { payload, protectedHeader } = await jwtVerify(await assertionOf(member), publicKey, {
      issuer: 'https://school.example',
      audience: 'school',
      currentDate: new Date(NOON),
    });
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'key-1', typ: 'JWT' });
    expect(payload).toEqual({
      iss: 'https://school.example',
      aud: 'school',
      sub: 'm-1',
      email: 'student@example.com',
      name: 'Student',
      scope: 'courses:read orders:read',
      client_id: 'https://client.example/meta',
      grant_id: 'grant-1',
      iat: NOON / 1000,
      exp: NOON / 1000 + 60,
    });
  });

  it('is refused by a backend after a minute, and by another upstream', async () => {
    const token = await assertionOf(member);
    await expect(jwtVerify(token, publicKey, { currentDate: new Date(NOON + 61_000) })).rejects.toThrow('exp');
    await expect(jwtVerify(token, publicKey, { audience: 'billing', currentDate: new Date(NOON) })).rejects.toThrow(
      'aud',
    );
  });

  it('is signed once in 30 seconds per grant, scope and upstream', async () => {
    const first = await assertionOf(member);
    now += 29_999;
    expect(await assertionOf(member)).toBe(first);
    expect(signed).toBe(1);
    now += 1;
    expect(await assertionOf(member)).not.toBe(first);
    // A clock that was set back: the assertion would not be valid yet.
    now -= 30_001;
    const earlier = await assertionOf(member);
    expect(decodeJwt(earlier).iat).toBe(Math.floor(now / 1000));
    await assertionOf({ ...member, grantId: 'grant-2' });
    await assertionOf({ ...member, scope: new Set(['courses:read']) });
    await assertionOf(member, 'billing');
    await assertionOf({ ...member, sub: 'm-2' });
    expect(signed).toBe(7);
  });

  it('is signed again after a failure of the key', async () => {
    let broken = true;
    const signingKey = async () => {
      if (broken) throw new Error('no key');
      return { kid: 'key-1', key: privateKey };
    };
    const fragile = createIdentity({ issuer: 'https://school.example', signingKey, clock: () => now });
    await expect(fragile(member, 'school', ['assertion'])).rejects.toThrow('no key');
    broken = false;
    expect(await fragile(member, 'school', ['assertion'])).toHaveProperty('X-Coursegate-Assertion');
  });
});

describe('the identity headers', () => {
  it('are those of the configured kinds', async () => {
    expect(await identity(member, 'school', ['headers'])).toEqual({
      'X-Member-Id': 'm-1',
      'X-Member-Email': 'student@example.com',
      'X-Member-Name': 'Student',
      'X-Member-Scope': 'courses:read orders:read',
      'X-Client-Id': 'https://client.example/meta',
    });
    expect(await identity(member, 'school', [])).toEqual({});
  });

  it('are absent for an anonymous principal', async () => {
    expect(await identity(ANONYMOUS, 'school', ['headers', 'assertion'])).toEqual({});
  });

  it('leave out unknown values of a member', async () => {
    const fields = await identity({ ...member, details: {} }, 'school', ['headers']);
    expect(Object.keys(fields)).toEqual(['X-Member-Id', 'X-Member-Scope', 'X-Client-Id']);
  });

  it.each([
    ['Renée', 'Ren%C3%A9e'],
    ['A\r\nX-Member-Id: root', 'A%0D%0AX-Member-Id: root'],
    ['nul\0', 'nul%00'],
    ['100%41', '100%2541'],
    ['Doe, Jane', 'Doe%2C Jane'],
    [' padded ', '%20padded%20'],
    ['数学 😀', '%E6%95%B0%E5%AD%A6 %F0%9F%98%80'],
  ])('carry the name %j as %s, which decodes to the same', async (name, expected) => {
    const value = (await identity({ ...member, details: { name } }, 'school', ['headers']))['X-Member-Name'] ?? '';
    expect(value).toBe(expected);
    expect(decodeURIComponent(value)).toBe(name);
  });

  it.each(['', 'm\r\n1', 'm\0', 'm\x7F', 'm\u0085', '\ud800'])('cannot be made for the member ID %j', async (id) => {
    for (const ids of [{ sub: id }, { clientId: id }])
      await expect(identity({ ...member, ...ids }, 'school', ['headers'])).rejects.toMatchObject({ code: 'internal' });
  });
});

describe('a cached assertion', () => {
  /** Bytes of memory in use. */
  const held = (): number => {
    setFlagsFromString('--expose-gc');
    for (const _ of [1, 2]) (runInNewContext('gc') as () => void)();
    return process.memoryUsage().heapUsed;
  };
  const grants = async (from: number, count: number) => {
    for (let at = from; at < from + count; at += 1) {
      if (at % 50 === 0) now += 61_000;
      await identity({ ...member, grantId: `grant-${at}` }, 'school', ['headers', 'assertion']);
    }
  };

  it('is released once it is stale, even if it is not requested again', async () => {
    await grants(0, 1000);
    const before = held();
    await grants(1000, 3000);
    // If they were kept, each would take more than a kilobyte.
    expect(held() - before).toBeLessThan(1_000_000);
  });
});
