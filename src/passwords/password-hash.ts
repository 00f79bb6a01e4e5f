// Verifies password hashes as stored by common frameworks, with limited concurrency and off the event loop.

import { argon2, createHash, createHmac, pbkdf2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { startThread } from '../installation.ts';

/** A parsed password hash. */
export interface PasswordHash {
  /** Such as argon2id or bcrypt. */
  readonly scheme: string;
  /**
   * Whether this is the hash of the password, compared in constant time. Runs in the thread pool or a separate thread,
   * never on the event loop. A wrong password takes as long as the right one, so any hash can serve as the decoy for
   * an unknown account. Rejects only if the machine lacks resources.
   */
  verify(password: string): Promise<boolean>;
}

/**
 * Parses a hash of one scheme: undefined if it is of another scheme, `malformed` if it is truncated or its cost is so
 * high that verifying would take minutes.
 */
type Scheme = (encoded: string) => PasswordHash | 'malformed' | undefined;

/** Every supported scheme. They are distinguished by their prefixes. */
const SCHEMES: readonly Scheme[] = [
  ...[phcArgon2, bcrypt, phcScrypt, phcPbkdf2],
  ...[phpass, wordpress, djangoBcrypt, djangoScrypt, djangoPbkdf2, prefixed],
];

const KNOWN =
  'argon2id, bcrypt, scrypt, pbkdf2, phpass, those of WordPress and Django, and {bcrypt} and {argon2} of Spring';

/**
 * Unsalted fast hashes offer no more protection than the plain password: a graphics card tries billions per second.
 */
const UNSALTED: Readonly<Record<number, string>> = { 32: 'MD5', 40: 'SHA-1', 64: 'SHA-256' };

/** Parses a stored hash; undefined if it is malformed or its scheme is not supported. */
export function readPasswordHash(encoded: string): PasswordHash | undefined {
  const found = recognise(encoded);
  return found === 'malformed' ? undefined : found;
}

/** Says why a text cannot be used as a hash, without showing it; undefined when it can. */
export function passwordHashProblem(encoded: string): string | undefined {
  const found = recognise(encoded);
  const unsalted = /^[0-9a-f]+$/i.test(encoded) && UNSALTED[encoded.length];
  if (unsalted) return `is not a supported password hash: unsalted ${unsalted} offers no protection`;
  if (found === undefined)
    return `is not a supported password hash (${KNOWN}); create one with: coursegate hash-password`;
  return found === 'malformed' ? 'is a password hash that is truncated or whose cost is out of range' : undefined;
}

/** Hashes a password with argon2id at the cost that OWASP recommends, in the PHC string format. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const cost = { memory: 19_456, passes: 2, parallelism: 1 };
  const tag = await argon2Of('argon2id', { message: password, nonce, ...cost, tagLength: 32 });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

function recognise(encoded: string): PasswordHash | 'malformed' | undefined {
  return SCHEMES.map((scheme) => scheme(encoded)).find((found) => found !== undefined);
}

/** A hash that is derived from the password and compared in constant time. */
function compared(scheme: string, tag: Buffer, derive: (password: string) => Promise<Uint8Array>): PasswordHash {
  return { scheme, verify: async (password) => timingSafeEqual(await derive(password), tag) };
}

const argon2Of = promisify(argon2);
const scryptOf = promisify(
  (password: string, salt: Buffer, length: number, cost: object, done: (error: Error | null, key: Buffer) => void) =>
    scrypt(password, salt, length, cost, done),
);
const pbkdf2Of = promisify(pbkdf2);

/** The PHC string format as written by PHP's password_hash and argon2-cffi: `$argon2id$v=19$m=65536,t=3,p=4$salt$tag`. */
function phcArgon2(encoded: string): ReturnType<Scheme> {
  const scheme = /^\$(argon2(?:id|i|d))\$/.exec(encoded)?.[1] as 'argon2id' | 'argon2i' | 'argon2d' | undefined;
  if (scheme === undefined) return undefined;
  const found = /^\$argon2\w+\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([\w+/.-]+)\$([\w+/.-]+)$/.exec(encoded);
  const [memory, passes, parallelism] = [1, 2, 3].map((at) => Number(found?.[at])) as [number, number, number];
  const [nonce, tag] = [fromBase64(found?.[4]), fromBase64(found?.[5])];
  const good = within(parallelism, 1, 64) && within(memory, 8 * parallelism, 1024 ** 2) && within(passes, 1, 100);
  if (!good || !within(nonce.length, 8, 64) || !within(tag.length, 16, 128)) return 'malformed';
  const parameters = { nonce, memory, passes, parallelism, tagLength: tag.length };
  return compared(scheme, tag, (message) => argon2Of(scheme, { message, ...parameters }));
}

/** `$2a$`, `$2b$` and `$2y$` are equivalent for UTF-8 passwords. `$2x$`, from a broken implementation, is refused. */
function bcrypt(encoded: string): ReturnType<Scheme> {
  if (!/^\$2[aby]\$/.test(encoded)) return undefined;
  const cost = Number(/^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(encoded)?.[1]);
  const verify = (password: string) => inThread<boolean>('passwords/bcrypt-thread', password, encoded);
  return within(cost, 4, 16) ? { scheme: 'bcrypt', verify } : 'malformed';
}

/** Runs a hash in a new thread: the password's memory is freed with it, and the event loop is not blocked. */
async function inThread<T>(name: string, password: string, hash: unknown): Promise<T> {
  const worker = startThread(name, { workerData: { password, hash } });
  worker.unref();
  try {
    const [answer] = (await once(worker, 'message')) as [T];
    return answer;
  } finally {
    await worker.terminate();
  }
}

/** The format of passlib: `$scrypt$ln=16,r=8,p=1$salt$key`. */
function phcScrypt(encoded: string): ReturnType<Scheme> {
  if (!encoded.startsWith('$scrypt$')) return undefined;
  const found = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/.-]+)\$([\w+/.-]+)$/.exec(encoded);
  const [ln, r, p] = [1, 2, 3].map((at) => Number(found?.[at])) as [number, number, number];
  return within(ln, 10, 20) ? scryptHash(2 ** ln, r, p, fromBase64(found?.[4]), fromBase64(found?.[5])) : 'malformed';
}

function scryptHash(N: number, r: number, p: number, salt: Buffer, key: Buffer): PasswordHash | 'malformed' {
  if (!within(r, 1, 32) || !within(p, 1, 16) || !within(salt.length, 8, 64) || !within(key.length, 16, 128))
    return 'malformed';
  const cost = { N, r, p, maxmem: 128 * N * r + 128 * r * p + 1024 ** 2 };
  return compared('scrypt', key, (password) => scryptOf(password, salt, key.length, cost));
}

/** The format of passlib: `$pbkdf2-sha256$29000$salt$key`. */
function phcPbkdf2(encoded: string): ReturnType<Scheme> {
  if (!encoded.startsWith('$pbkdf2')) return undefined;
  const found = /^\$pbkdf2-(sha256|sha512)\$(\d{1,8})\$([\w+/.-]+)\$([\w+/.-]+)$/.exec(encoded);
  return pbkdf2Hash(found?.[1] ?? '', Number(found?.[2]), fromBase64(found?.[3]), fromBase64(found?.[4]));
}

function pbkdf2Hash(digest: string, iterations: number, salt: Buffer, key: Buffer): PasswordHash | 'malformed' {
  if (!within(iterations, 1000, 5_000_000) || !within(salt.length, 8, 128) || !within(key.length, 20, 128))
    return 'malformed';
  return compared('pbkdf2', key, (password) => pbkdf2Of(password, salt, iterations, key.length, digest));
}

const PHPASS_DIGITS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The portable hash of phpass, used by phpBB and by WordPress up to 6.7: `$P$`, cost, 8 salt and 22 digest characters. */
function phpass(encoded: string): ReturnType<Scheme> {
  if (!/^\$[PH]\$/.test(encoded)) return undefined;
  const found = /^\$[PH]\$(.)([./0-9A-Za-z]{8})([./0-9A-Za-z]{22})$/.exec(encoded);
  const cost = PHPASS_DIGITS.indexOf(found?.[1] ?? '?');
  if (!within(cost, 7, 20)) return 'malformed';
  const hash = { cost, salt: found?.[2] };
  return compared('phpass', fromPhpass(found?.[3] ?? ''), (password) =>
    inThread<Uint8Array>('passwords/phpass-thread', password, hash),
  );
}

/** Decodes phpass's variant of Base64, which has the least significant bits first. */
function fromPhpass(text: string): Buffer {
  const bits = [...text].map((digit) => BigInt(PHPASS_DIGITS.indexOf(digit)));
  const bytes: number[] = [];
  for (let at = 0; at < bits.length; at += 4) {
    const value = bits.slice(at, at + 4).reduce((sum, six, place) => sum + (six << BigInt(6 * place)), 0n);
    for (let place = 0; place < 3; place += 1) bytes.push(Number((value >> BigInt(8 * place)) & 255n));
  }
  return Buffer.from(bytes.slice(0, 16));
}

/** WordPress 6.8 and later: `$wp` and a bcrypt hash of the password’s HMAC, which avoids bcrypt's length limit. */
function wordpress(encoded: string): ReturnType<Scheme> {
  if (!encoded.startsWith('$wp$2')) return undefined;
  const condensed = (password: string) => createHmac('sha384', 'wp-sha384').update(password).digest('base64');
  return over(bcrypt(encoded.slice(3)), 'wordpress', condensed);
}

/** Django: `bcrypt_sha256$$2b$…` of the hex SHA-256, and `bcrypt$$2b$…` of the password itself. */
function djangoBcrypt(encoded: string): ReturnType<Scheme> {
  const [, sha256, hash = ''] = /^bcrypt(_sha256)?\$(\$2.*)$/.exec(encoded) ?? [];
  const condensed = (password: string) => createHash('sha256').update(password).digest('hex');
  return hash === '' ? undefined : over(bcrypt(hash), 'bcrypt', sha256 === undefined ? same : condensed);
}

/** Django: `scrypt$16384$salt$8$1$key`. The salt is used as text. */
function djangoScrypt(encoded: string): ReturnType<Scheme> {
  if (!encoded.startsWith('scrypt$')) return undefined;
  const found = /^scrypt\$(\d{4,7})\$([^$]+)\$(\d{1,2})\$(\d{1,2})\$([\w+/=]+)$/.exec(encoded);
  const [N, r, p] = [1, 3, 4].map((at) => Number(found?.[at])) as [number, number, number];
  const powerOfTwo = within(N, 2 ** 10, 2 ** 20) && (N & (N - 1)) === 0;
  return powerOfTwo ? scryptHash(N, r, p, Buffer.from(found?.[2] ?? ''), fromBase64(found?.[5])) : 'malformed';
}

/** Django: `pbkdf2_sha256$1000000$salt$key`. The salt is used as text. */
function djangoPbkdf2(encoded: string): ReturnType<Scheme> {
  if (!encoded.startsWith('pbkdf2_')) return undefined;
  const found = /^pbkdf2_(sha256)\$(\d{1,8})\$([^$]+)\$([\w+/=]+)$/.exec(encoded);
  return pbkdf2Hash(found?.[1] ?? '', Number(found?.[2]), Buffer.from(found?.[3] ?? ''), fromBase64(found?.[4]));
}

/** Spring’s `{bcrypt}$2a$…` and `{argon2@SpringSecurity_v5_8}$argon2id$…`, and Django’s `argon2$argon2id$…`. */
function prefixed(encoded: string): ReturnType<Scheme> {
  const [, name, hash = ''] = /^\{(bcrypt|argon2(?:@\w+)?)\}(.*)$/.exec(encoded) ?? [];
  if (name !== undefined) return (name === 'bcrypt' ? bcrypt(hash) : phcArgon2(hash)) ?? 'malformed';
  return encoded.startsWith('argon2$') ? phcArgon2(encoded.slice('argon2'.length)) : undefined;
}

/** A scheme that transforms the password before hashing it. */
function over(
  inner: ReturnType<Scheme>,
  scheme: string,
  made: (password: string) => string,
): PasswordHash | 'malformed' {
  if (inner === undefined || inner === 'malformed') return 'malformed';
  return { scheme, verify: (password) => inner.verify(made(password)) };
}

const same = (password: string): string => password;

/** Decodes the variants of Base64 in hashes: with or without padding, and with passlib's `.` for `+`. */
function fromBase64(text = ''): Buffer {
  return Buffer.from(text.replaceAll('.', '+'), 'base64');
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
