import { argon2, createHash, createHmac, pbkdf2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';

/** A stored password hash, read. */
export interface PasswordHash {
  /** Such as argon2id or bcrypt. */
  readonly scheme: string;
  /**
   * Whether it is made of this password, compared in constant time. Never on the event loop: in the thread pool, or in a
   * thread of its own. Takes as long for a wrong password as for the right one, which is why any hash will do as the decoy
   * of an account that there is not. Rejects only when the machine cannot (no memory).
   */
  verify(password: string): Promise<boolean>;
}

/**
 * One way to write a hash. In: the text. Out: the hash, undefined when it is not one of this scheme, or `malformed` when it
 * is, but cannot be used: cut short, or of a cost that would keep the machine busy for minutes.
 */
type Scheme = (encoded: string) => PasswordHash | 'malformed' | undefined;

/** Every scheme there is, each told from the others by how it begins. */
const SCHEMES: readonly Scheme[] = [
  ...[phcArgon2, bcrypt, phcScrypt, phcPbkdf2],
  ...[phpass, wordpress, djangoBcrypt, djangoScrypt, djangoPbkdf2, prefixed],
];

const KNOWN = 'argon2id, bcrypt, scrypt or pbkdf2, phpass, of WordPress, of Django, or {bcrypt} or {argon2} of Spring';

/** What is as good as the password itself: a graphics card tries billions of them in a second. */
const UNSALTED = [
  { length: 32, name: 'MD5' },
  { length: 40, name: 'SHA-1' },
  { length: 64, name: 'SHA-256' },
];

/** In: a hash as it was stored. Out: it, or undefined when it is of no scheme that we know, or malformed. */
export function readPasswordHash(encoded: string): PasswordHash | undefined {
  const found = recognise(encoded);
  return found === 'malformed' ? undefined : found;
}

/** Out: why a text cannot be used as a hash, never showing it; undefined when it can. */
export function passwordHashProblem(encoded: string): string | undefined {
  const found = recognise(encoded);
  const unsalted = /^[0-9a-f]+$/i.test(encoded) && UNSALTED.find(({ length }) => length === encoded.length);
  if (unsalted)
    return `is no password hash that is known: an ${unsalted.name} without salt protects nobody, and is not taken`;
  if (found === undefined)
    return `is no password hash that is known (${KNOWN}); make one with: coursegate hash-password`;
  return found === 'malformed' ? 'is a password hash that is cut short, or of a cost that is not taken' : undefined;
}

/** Out: an argon2id hash of a password, in the PHC string format, at the cost that OWASP recommends. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const cost = { memory: 19_456, passes: 2, parallelism: 1 };
  const tag = await argon2Of('argon2id', { message: password, nonce, ...cost, tagLength: 32 });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(nonce)}$${unpadded(tag)}`;
}

function recognise(encoded: string): PasswordHash | 'malformed' | undefined {
  for (const scheme of SCHEMES) {
    const found = scheme(encoded);
    if (found !== undefined) return found;
  }
  return undefined;
}

const argon2Of = promisify(argon2);
const scryptOf = promisify(
  (password: string, salt: Buffer, length: number, cost: object, done: (error: Error | null, key: Buffer) => void) =>
    scrypt(password, salt, length, cost, done),
);
const pbkdf2Of = promisify(pbkdf2);

/** The PHC string format, as password_hash of PHP and argon2-cffi write it: `$argon2id$v=19$m=65536,t=3,p=4$salt$tag`. */
function phcArgon2(encoded: string): ReturnType<Scheme> {
  const scheme = /^\$(argon2(?:id|i|d))\$/.exec(encoded)?.[1] as 'argon2id' | 'argon2i' | 'argon2d' | undefined;
  if (scheme === undefined) return undefined;
  const found = /^\$argon2\w+\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,3})\$([\w+/.-]+)\$([\w+/.-]+)$/.exec(encoded);
  const [memory, passes, parallelism] = [1, 2, 3].map((at) => Number(found?.[at])) as [number, number, number];
  const [nonce, tag] = [fromBase64(found?.[4]), fromBase64(found?.[5])];
  const good = within(parallelism, 1, 64) && within(memory, 8 * parallelism, 1024 ** 2) && within(passes, 1, 100);
  if (!good || !within(nonce.length, 8, 64) || !within(tag.length, 16, 128)) return 'malformed';
  return {
    scheme,
    verify: async (password) =>
      timingSafeEqual(
        await argon2Of(scheme, { message: password, nonce, memory, passes, parallelism, tagLength: tag.length }),
        tag,
      ),
  };
}

/** `$2a$`, `$2b$` and `$2y$` are one for passwords in UTF-8; `$2x$` is the broken one, and is not taken. */
function bcrypt(encoded: string): ReturnType<Scheme> {
  if (!/^\$2[aby]\$/.test(encoded)) return undefined;
  const cost = Number(/^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(encoded)?.[1]);
  const verify = (password: string) =>
    inThread<boolean>(new URL('./bcrypt-thread.ts', import.meta.url), password, encoded);
  return within(cost, 4, 16) ? { scheme: 'bcrypt', verify } : 'malformed';
}

/** A fresh thread each: what it was given ends with it, and bcrypt in steps on the event loop would hold up the gate. */
async function inThread<T>(file: URL, password: string, hash: unknown): Promise<T> {
  const worker = new Worker(file, { workerData: { password, hash } });
  worker.unref();
  try {
    const [answer] = (await once(worker, 'message')) as [T];
    return answer;
  } finally {
    await worker.terminate();
  }
}

/** As passlib writes it: `$scrypt$ln=16,r=8,p=1$salt$key`. */
function phcScrypt(encoded: string): ReturnType<Scheme> {
  if (!encoded.startsWith('$scrypt$')) return undefined;
  const found = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([\w+/.-]+)\$([\w+/.-]+)$/.exec(encoded);
  const [ln, r, p] = [1, 2, 3].map((at) => Number(found?.[at])) as [number, number, number];
  return within(ln, 10, 20) ? scryptHash(2 ** ln, r, p, fromBase64(found?.[4]), fromBase64(found?.[5])) : 'malformed';
}

function scryptHash(N: number, r: number, p: number, salt: Buffer, key: Buffer): PasswordHash | 'malformed' {
  if (!within(r, 1, 32) || !within(p, 1, 16) || !within(salt.length, 8, 64) || !within(key.length, 16, 128)) {
    return 'malformed';
  }
  const cost = { N, r, p, maxmem: 128 * N * r + 128 * r * p + 1024 ** 2 };
  return {
    scheme: 'scrypt',
    verify: async (password) => timingSafeEqual(await scryptOf(password, salt, key.length, cost), key),
  };
}

/** As passlib writes it: `$pbkdf2-sha256$29000$salt$key`. */
function phcPbkdf2(encoded: string): ReturnType<Scheme> {
  if (!encoded.startsWith('$pbkdf2')) return undefined;
  const found = /^\$pbkdf2-(sha256|sha512)\$(\d{1,8})\$([\w+/.-]+)\$([\w+/.-]+)$/.exec(encoded);
  return pbkdf2Hash(found?.[1] ?? '', Number(found?.[2]), fromBase64(found?.[3]), fromBase64(found?.[4]));
}

function pbkdf2Hash(digest: string, iterations: number, salt: Buffer, key: Buffer): PasswordHash | 'malformed' {
  if (!within(iterations, 1000, 5_000_000) || !within(salt.length, 8, 128) || !within(key.length, 20, 128)) {
    return 'malformed';
  }
  return {
    scheme: 'pbkdf2',
    verify: async (password) => timingSafeEqual(await pbkdf2Of(password, salt, iterations, key.length, digest), key),
  };
}

const PHPASS_DIGITS = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The portable hash of phpass, as WordPress wrote it up to 6.7, and phpBB: `$P$`, cost, 8 of salt, 22 of digest. */
function phpass(encoded: string): ReturnType<Scheme> {
  if (!/^\$[PH]\$/.test(encoded)) return undefined;
  const found = /^\$[PH]\$(.)([./0-9A-Za-z]{8})([./0-9A-Za-z]{22})$/.exec(encoded);
  const cost = PHPASS_DIGITS.indexOf(found?.[1] ?? '?');
  if (!within(cost, 7, 20)) return 'malformed';
  const tag = fromPhpass(found?.[3] ?? '');
  return {
    scheme: 'phpass',
    verify: async (password) =>
      timingSafeEqual(
        await inThread<Uint8Array>(new URL('./phpass-thread.ts', import.meta.url), password, {
          cost,
          salt: found?.[2],
        }),
        tag,
      ),
  };
}

/** Its own base64: least significant bits first. */
function fromPhpass(text: string): Buffer {
  const bits = [...text].map((digit) => BigInt(PHPASS_DIGITS.indexOf(digit)));
  const bytes: number[] = [];
  for (let at = 0; at < bits.length; at += 4) {
    const value = bits.slice(at, at + 4).reduce((sum, six, place) => sum + (six << BigInt(6 * place)), 0n);
    for (let place = 0; place < 3; place += 1) bytes.push(Number((value >> BigInt(8 * place)) & 255n));
  }
  return Buffer.from(bytes.slice(0, 16));
}

/** WordPress from 6.8 on: `$wp` before a bcrypt of the password’s HMAC, which no length of password outgrows. */
function wordpress(encoded: string): ReturnType<Scheme> {
  if (!encoded.startsWith('$wp$2')) return undefined;
  const condensed = (password: string) => createHmac('sha384', 'wp-sha384').update(password).digest('base64');
  return over(bcrypt(encoded.slice(3)), 'wordpress', condensed);
}

/** `bcrypt_sha256$$2b$…` of the hex SHA-256, and `bcrypt$$2b$…` of the password itself. */
function djangoBcrypt(encoded: string): ReturnType<Scheme> {
  const [, sha256, hash = ''] = /^bcrypt(_sha256)?\$(\$2.*)$/.exec(encoded) ?? [];
  const condensed = (password: string) => createHash('sha256').update(password).digest('hex');
  return hash === '' ? undefined : over(bcrypt(hash), 'bcrypt', sha256 === undefined ? same : condensed);
}

/** `scrypt$16384$salt$8$1$key`: the salt as text. */
function djangoScrypt(encoded: string): ReturnType<Scheme> {
  if (!encoded.startsWith('scrypt$')) return undefined;
  const found = /^scrypt\$(\d{4,7})\$([^$]+)\$(\d{1,2})\$(\d{1,2})\$([\w+/=]+)$/.exec(encoded);
  const [N, r, p] = [1, 3, 4].map((at) => Number(found?.[at])) as [number, number, number];
  const powerOfTwo = within(N, 2 ** 10, 2 ** 20) && (N & (N - 1)) === 0;
  return powerOfTwo ? scryptHash(N, r, p, Buffer.from(found?.[2] ?? ''), fromBase64(found?.[5])) : 'malformed';
}

/** `pbkdf2_sha256$1000000$salt$key`: the salt as text. */
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

/** A hash of what is made of the password first. */
function over(
  inner: ReturnType<Scheme>,
  scheme: string,
  made: (password: string) => string,
): PasswordHash | 'malformed' {
  if (inner === undefined || inner === 'malformed') return 'malformed';
  return { scheme, verify: (password) => inner.verify(made(password)) };
}

const same = (password: string): string => password;

/** Base64 in any of the dialects of hashes: padded or not, and with passlib's `.` for `+`. */
function fromBase64(text = ''): Buffer {
  return Buffer.from(text.replaceAll('.', '+'), 'base64');
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

function within(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}
