import { argon2, pbkdf2, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
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
const SCHEMES: readonly Scheme[] = [phcArgon2, bcrypt, phcScrypt, phcPbkdf2];

const KNOWN = 'argon2id, bcrypt, scrypt or pbkdf2';

/** In: a hash as it was stored. Out: it, or undefined when it is of no scheme that we know, or malformed. */
export function readPasswordHash(encoded: string): PasswordHash | undefined {
  const found = recognise(encoded);
  return found === 'malformed' ? undefined : found;
}

/** Out: why a text cannot be used as a hash, never showing it; undefined when it can. */
export function passwordHashProblem(encoded: string): string | undefined {
  const found = recognise(encoded);
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
  return within(cost, 4, 16) ? { scheme: 'bcrypt', verify: (password) => inThread(password, encoded) } : 'malformed';
}

/** A fresh thread each: what it was given ends with it, and bcrypt in steps on the event loop would hold up the gate. */
async function inThread(password: string, hash: string): Promise<boolean> {
  const worker = new Worker(new URL('./bcrypt-thread.ts', import.meta.url), { workerData: { password, hash } });
  worker.unref();
  try {
    const [same] = (await once(worker, 'message')) as [boolean];
    return same;
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
