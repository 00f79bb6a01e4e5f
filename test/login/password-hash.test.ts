import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createHashing } from '../../src/passwords/hashing.ts';
import {
  hashPassword,
  type PasswordHash,
  passwordHashProblem,
  readPasswordHash,
} from '../../src/passwords/password-hash.ts';
import { fromClient } from '../support/client.ts';

/**
 * Made with other software: PHP's password_hash, htpasswd, Python's hashlib in passlib's format. All for `correct
 * horse`.
 */
const HASHES: readonly (readonly [scheme: string, made: string, hash: string])[] = [
  [
    'argon2id',
    'PHP',
    '$argon2id$v=19$m=8192,t=2,p=1$Vk52UnRadDIxZWhjczJWQw$0/lk8GHFw/NpWxI/d41WxEVjzfCiKaqbnvBafgJNlv0',
  ],
  ['argon2i', 'PHP', '$argon2i$v=19$m=4096,t=3,p=1$MUtIRkwvZEFzZ1lJaTdQUw$r058csB4w8YBV4ESNz+qtlfaVTHS5tc7wJamRk3UiiM'],
  ['bcrypt', 'PHP', '$2y$06$jg/XUgjmw/KfX8guwJTcbu9GJmjndU4tePHFnT7fNU8B6CR8Dpl1C'],
  ['bcrypt', 'htpasswd', '$2y$05$bQZ1cLGoAbtkELjb5m3j/uyaeC4dQY6OxKrYVMv6K82UQ6Ej4ptV6'],
  ['scrypt', 'Python', '$scrypt$ln=14,r=8,p=1$5MMrOwOPG3zJ7u9qd3ZA2g$oarSCzWt5zxkxZN7vV8Ftw9A82YhALLpw56sEv4DxPs'],
  [
    'pbkdf2',
    'Python (SHA-256)',
    '$pbkdf2-sha256$29000$C18BbWUe1cQLIqVPCIUFsA$ywQUFg4o7qRH3HLj.pYro7293wvaiAKci3gqxVot7NE',
  ],
  [
    'pbkdf2',
    'Python (SHA-512)',
    '$pbkdf2-sha512$25000$tEWNacSCAouSjk28LlLqeQ$sFhx3V7lRPnpKcAKO.zAOuKqDSM9EbG516xPcwj.eRrrz9rXug0Zt.JO5cHq6NgjMpLlYEcWJ.miHmu1HuaQ1A',
  ],
  ['phpass', 'WordPress up to 6.7', '$P$BXBE/O3QCxuV4a239N3DYSj9hXgQ0N0'],
  ['wordpress', 'WordPress 6.8', '$wp$2y$05$VxQpkuAOUYcET5g9naQTE.YqS616LbU//8UYPOsTcy5xwucaxgjgK'],
  ['pbkdf2', 'Django', 'pbkdf2_sha256$20000$seasaltseasalt$AdAvoLf6ISDfOk7ZywrMPBGvsBWLmJNF+vkY0sxM/iQ='],
  [
    'scrypt',
    'Django',
    'scrypt$16384$seasaltseasalt$8$1$pyPEsKfSXmbzDng6fiwEDBi8LGw2fHC7A+2xsmEpqTPRS3J9qc1mVU32wYd11RyjV7mUm0xf05WZBLTU/s4Wkg==',
  ],
  ['bcrypt', 'Django (SHA-256)', 'bcrypt_sha256$$2y$05$IqDt.1eaSu/b2.VCmjGAl.ZhStiC5WZwr.pTwPfBRIeqBAqk5nC02'],
  ['bcrypt', 'Django', 'bcrypt$$2y$06$jg/XUgjmw/KfX8guwJTcbu9GJmjndU4tePHFnT7fNU8B6CR8Dpl1C'],
  [
    'argon2id',
    'Django',
    'argon2$argon2id$v=19$m=8192,t=2,p=1$Vk52UnRadDIxZWhjczJWQw$0/lk8GHFw/NpWxI/d41WxEVjzfCiKaqbnvBafgJNlv0',
  ],
  ['bcrypt', 'Spring', '{bcrypt}$2y$06$jg/XUgjmw/KfX8guwJTcbu9GJmjndU4tePHFnT7fNU8B6CR8Dpl1C'],
  [
    'argon2id',
    'Spring',
    '{argon2@SpringSecurity_v5_8}$argon2id$v=19$m=8192,t=2,p=1$Vk52UnRadDIxZWhjczJWQw$0/lk8GHFw/NpWxI/d41WxEVjzfCiKaqbnvBafgJNlv0',
  ],
];

describe('a password hash', () => {
  it.each(HASHES)('of %s made by %s matches only its password', async (scheme, _, encoded) => {
    const hash = readPasswordHash(encoded);
    expect(hash?.scheme).toBe(scheme);
    expect(passwordHashProblem(encoded)).toBeUndefined();
    expect(await hash?.verify('correct horse')).toBe(true);
    for (const wrong of ['correct horsf', 'correct hors', 'correct horse ', 'Correct horse', '']) {
      expect(await hash?.verify(wrong)).toBe(false);
    }
  });

  it.each(HASHES)('of %s made by %s is refused when truncated, without showing it', (_, __, encoded) => {
    const broken = encoded.slice(0, encoded.lastIndexOf('$') + 9);
    expect(readPasswordHash(broken)).toBeUndefined();
    expect(passwordHashProblem(broken)).toBe('is a password hash that is truncated or whose cost is out of range');
  });

  it.each([
    '',
    'student',
    '5f4dcc3b5aa765d61d8327deb882cf99',
    '$1$abc$aaaaaaaaaaaaaaaaaaaaaa',
    '$2x$10$abcdefghijklmnopqrstuuFtvjvtfDGhJUBJRrfxS7YLVtXmSeaZi',
    '$argon2id$v=16$m=4096,t=3,p=1$c2FsdHNhbHRzYWx0$Iv3dSMJ431p24TEj68Kxokm/ilAC9HfwREDIVPM/1/0',
    '$argon2id$v=19$m=4194304,t=3,p=1$c2FsdHNhbHRzYWx0$Iv3dSMJ431p24TEj68Kxokm/ilAC9HfwREDIVPM/1/0',
    '$argon2id$v=19$m=4096,t=3,p=1$c2FsdHNhbHRzYWx0$',
    '$scrypt$ln=40,r=8,p=1$c2FsdHNhbHRzYWx0$Iv3dSMJ431p24TEj68Kxokm/ilAC9HfwREDIVPM/1/0',
    '$pbkdf2-md5$29000$c2FsdHNhbHRzYWx0$Iv3dSMJ431p24TEj68Kxokm/ilAC9HfwREDIVPM/1/0',
  ])('is not recognised in %j', (encoded) => {
    expect(readPasswordHash(encoded)).toBeUndefined();
    expect(passwordHashProblem(encoded)).toMatch(
      /^is (not a supported password hash|a password hash that is truncated)/,
    );
  });

  const tag = 'Iv3dSMJ431p24TEj68Kxokm/ilAC9HfwREDIVPM/1/0';
  const salt = 'c2FsdHNhbHRzYWx0';
  it.each([
    ['bcrypt', (cost) => `$2b$${cost}$${'a'.repeat(53)}`, ['04', '16'], ['03', '17', '31']],
    ['phpass', (cost) => `$P$${cost}${'a'.repeat(30)}`, ['5', 'I'], ['4', 'J', 'z']],
    ['argon2 memory', (cost) => `$argon2id$v=19$m=${cost},t=1,p=1$${salt}$${tag}`, ['8', '1048576'], ['7', '1048577']],
    ['argon2 passes', (cost) => `$argon2id$v=19$m=64,t=${cost},p=1$${salt}$${tag}`, ['1', '100'], ['0', '101']],
    ['argon2 lanes', (cost) => `$argon2id$v=19$m=1024,t=1,p=${cost}$${salt}$${tag}`, ['1', '64'], ['0', '65']],
    ['scrypt', (cost) => `$scrypt$ln=${cost},r=8,p=1$${salt}$${tag}`, ['10', '20'], ['9', '21']],
    ['scrypt blocks', (cost) => `$scrypt$ln=14,r=${cost},p=1$${salt}$${tag}`, ['1', '32'], ['0', '33']],
    ['scrypt lanes', (cost) => `$scrypt$ln=14,r=8,p=${cost}$${salt}$${tag}`, ['1', '16'], ['0', '17']],
    [
      'Django scrypt',
      (cost) => `scrypt$${cost}$seasalt1$8$1$${tag}=`,
      ['1024', '1048576'],
      ['1023', '1536', '2097152'],
    ],
    ['pbkdf2', (cost) => `$pbkdf2-sha256$${cost}$${salt}$${tag}`, ['1000', '5000000'], ['999', '5000001']],
  ] as readonly (readonly [string, (cost: string) => string, readonly string[], readonly string[]])[])(
    'of %s is refused at a cost that is too high or invalid',
    (_, encoded, taken, refused) => {
      for (const cost of taken) expect([cost, readPasswordHash(encoded(cost)) !== undefined]).toEqual([cost, true]);
      for (const cost of refused) expect([cost, readPasswordHash(encoded(cost))]).toEqual([cost, undefined]);
    },
  );

  it.each([
    ['5f4dcc3b5aa765d61d8327deb882cf99', 'MD5'],
    ['5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8', 'SHA-1'],
    ['5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8', 'SHA-256'],
  ])('is not recognised in %s, and the message names %s without salt', (encoded, name) => {
    expect(readPasswordHash(encoded)).toBeUndefined();
    expect(passwordHashProblem(encoded)).toContain(`unsalted ${name} offers no protection`);
  });

  it.each([
    '{noop}secret',
    '{MD5}5f4dcc3b5aa765d61d8327deb882cf99',
    '{bcrypt}secret',
    'md5$salt$hash',
    'unsalted_md5$$x',
  ])('is not recognised in %s', (encoded) => {
    expect(readPasswordHash(encoded)).toBeUndefined();
  });

  it('is created as argon2id with a new salt each time', async () => {
    const [one, two] = await Promise.all([hashPassword('ünïcode 🐎'), hashPassword('ünïcode 🐎')]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(one).not.toBe(two);
    expect(await readPasswordHash(one)?.verify('ünïcode 🐎')).toBe(true);
  });

  it('is verified off the event loop', async () => {
    const encoded = execFileSync(process.execPath, [
      '-e',
      "process.stdout.write(require('bcryptjs').hashSync('correct horse', 12))",
    ]).toString();
    let turns = 0;
    const count = () => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    let done = false;
    setImmediate(count);
    expect(await readPasswordHash(encoded)?.verify('correct horse')).toBe(true);
    done = true;
    // Verification on the event loop would leave only a handful of turns.
    expect(turns).toBeGreaterThan(200);
  });
});

describe('a flood of sign-ins', () => {
  it('runs and queues a limited number of hashes, and refuses the rest', async () => {
    let under = 0;
    let most = 0;
    const ends: (() => void)[] = [];
    const slow: PasswordHash = {
      scheme: 'slow',
      async verify(password) {
        under += 1;
        most = Math.max(most, under);
        await new Promise<void>((end) => ends.push(end));
        under -= 1;
        if (password === 'ill') throw new Error('no memory');
        return password === 'right';
      },
    };
    const hashing = createHashing({ atOnce: 2, waiting: 3 });
    const said = ['right', 'ill', 'wrong', 'right', 'right', 'right', 'right'].map((password) =>
      hashing.verify(slow, password).catch(() => 'failed'),
    );
    expect(await Promise.all(said.slice(5))).toEqual(['busy', 'busy']);
    while (ends.length > 0) {
      ends.shift()?.();
      await new Promise(setImmediate);
    }
    expect(await Promise.all(said.slice(0, 5))).toEqual([true, 'failed', false, true, true]);
    expect(most).toBe(2);
    // Afterwards, all slots are free again.
    const again = [hashing.verify(slow, 'right'), hashing.verify(slow, 'right')];
    await new Promise(setImmediate);
    expect(ends).toHaveLength(2);
    for (const end of ends) end();
    expect(await Promise.all(again)).toEqual([true, true]);
  });

  it('is shared fairly between client networks', async () => {
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const slow: PasswordHash = {
      scheme: 'slow',
      async verify(password) {
        order.push(password);
        await new Promise<void>((end) => ends.push(end));
        return true;
      },
    };
    const hashing = createHashing({ atOnce: 1, waiting: 4 });
    const signIn = (address: string) => fromClient(address, () => hashing.verify(slow, address));
    const [flood, another] = ['203.0.113.1', '203.0.113.2'];
    const flooding = Array.from({ length: 5 }, () => signIn(flood));
    expect(await signIn(flood)).toBe('busy');
    // Two later attempts from other networks each take a slot that the flood had.
    const others = [signIn(another), signIn('2001:db8::1')];
    expect(await Promise.all(flooding.slice(3))).toEqual(['busy', 'busy']);
    expect(await signIn(flood)).toBe('busy');
    for (let turn = 0; turn < 5; turn += 1) {
      ends.shift()?.();
      await new Promise(setImmediate);
    }
    expect(await Promise.all([...flooding.slice(0, 3), ...others])).toEqual(Array(5).fill(true));
    expect(order).toEqual([flood, flood, another, '2001:db8::1', flood]);
  });
});
