import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import type { Entry } from './store.ts';

const IV_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM. In: a 32-byte key, the text, and the context it belongs to. Out: base64 of iv, ciphertext and tag. */
export function seal(key: Buffer, text: string, context: string): string {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(context));
  return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64');
}

/** Throws GatewayError `store_unavailable` when the text was not sealed with this key for this context. */
export function open(key: Buffer, sealed: string, context: string): string {
  try {
    const bytes = Buffer.from(sealed, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch (thrown) {
    throw new GatewayError('store_unavailable', {
      cause: new Error('an entry of the store does not open with this secret', { cause: thrown }),
    });
  }
}

/** Out: an id or a reference as it stands in the store. */
export function hashId(key: Buffer, label: string, value: string): string {
  return createHmac('sha256', key).update(label).update('\0').update(value).digest('base64url');
}

/** What an entry's payload is sealed for: it opens nowhere else. */
export function contextOf({ kind, id }: Pick<Entry, 'kind' | 'id'>): string {
  return `${kind}\0${id}`;
}

/** Throws GatewayError `store_unavailable` when none of the keys opens it. */
export function openWithAny(keys: readonly Buffer[], entry: Pick<Entry, 'kind' | 'id' | 'payload'>): string {
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
