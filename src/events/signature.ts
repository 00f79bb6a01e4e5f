import { createHmac } from 'node:crypto';

/**
 * The fields of Standard Webhooks (standardwebhooks.com, §Signature scheme). In: the message's id, the same at each
 * attempt; Unix seconds of this attempt; the body as it is sent; and the keys, the present one first. Out: the fields.
 */
export function signedFields(
  id: string,
  seconds: number,
  body: string,
  keys: readonly Buffer[],
): Readonly<Record<string, string>> {
  const text = `${id}.${seconds}.${body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(text).digest('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') };
}
