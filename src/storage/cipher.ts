import { createCipheriv, createDecipheriv, createHmac, type KeyObject, randomFillSync } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { compressed, decompressed } from './compression.ts';
import type { Entry } from './store.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Characters from which on a text is compressed. */
const COMPRESSED_FROM = 120;
/** Begins what was compressed. No base64 does. */
const COMPRESSED = '.';
// Keys are KeyObjects throughout: Node throws and catches an error of its own for each raw key it is given.

/**
 * Encrypts with AES-256-GCM and a 32-byte key. `context` is authenticated too: the text can only be opened for the same
 * context. Returns base64 of IV, ciphertext and tag, after a `.` if the text was compressed before.
 */
export function seal(key: KeyObject, text: string, context: string, compress = true): string {
  if (!compress || text.length < COMPRESSED_FROM) return sealBytes(key, Buffer.from(text), context);
  return COMPRESSED + sealBytes(key, compressed(text), COMPRESSED + context);
}

function sealBytes(key: KeyObject, bytes: Uint8Array, context: string): string {
  const iv = freshIv();
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  return Buffer.concat([iv, cipher.update(bytes), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

export function isCompressed(sealed: string): boolean {
  return sealed.startsWith(COMPRESSED);
}

/** Random bytes for the next initialization vectors: drawing them one by one is a noticeable part of a small seal. */
const drawn = Buffer.alloc(IV_BYTES * 256);
let used = drawn.length;

/** Overwritten after 256 further calls. */
function freshIv(): Buffer {
  if (used === drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += IV_BYTES;
  return drawn.subarray(used - IV_BYTES, used);
}

/** Decrypts. Throws GatewayError `store_unavailable` if the text was not sealed with this key for this context. */
export function open(key: KeyObject, sealed: string, context: string): string {
  try {
    const wasCompressed = isCompressed(sealed);
    const bytes = Buffer.from(wasCompressed ? sealed.slice(1) : sealed, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(wasCompressed ? COMPRESSED + context : context))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    const opened = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
    // Throws unless the text is authentic.
    decipher.final();
    return wasCompressed ? decompressed(opened) : opened.toString('utf8');
  } catch (thrown) {
    throw new GatewayError('store_unavailable', {
      cause: new Error('an entry of the store does not open with this secret', { cause: thrown }),
    });
  }
}

/**
 * The keyed hash (HMAC-SHA256) under which the store holds an id or a reference. As long as the key: 16 bytes, or 32 in
 * stores of earlier versions.
 */
export function hashId(key: KeyObject, label: string, value: string): string {
  return createHmac('sha256', key)
    .update(label)
    .update('\0')
    .update(value)
    .digest()
    .toString('base64url', 0, key.symmetricKeySize);
}

/** The context that binds an entry's payload to its kind and id. */
export function contextOf({ kind, id }: Pick<Entry, 'kind' | 'id'>): string {
  return `${kind}\0${id}`;
}

/** Decrypts with the first key that works. Throws GatewayError `store_unavailable` if none does. */
export function openWithAny(keys: readonly KeyObject[], entry: Pick<Entry, 'kind' | 'id' | 'payload'>): string {
  let failure: unknown;
  for (const key of keys) {
    try {
      return open(key, entry.payload, contextOf(entry));
    } catch (thrown) {
      failure = thrown;
    }
  }
  throw failure;
}
