import { createHmac, type KeyObject } from 'node:crypto';

/**
 * The header fields of Standard Webhooks (standardwebhooks.com, "Signature scheme"). `id` is the same at each attempt,
 * `seconds` is the Unix time of this attempt, and `keys` are ordered current key first.
 */
export function signedFields(
  id: string,
  seconds: number,
  body: string,
  keys: readonly KeyObject[],
): Readonly<Record<string, string>> {
  const text = `${id}.${seconds}.${body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(text).digest('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') };
}
