import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { GatewayError } from '../errors.ts';
import { type Clock, unixSeconds } from '../storage/store.ts';
import type { CallUpstream } from '../upstream/request.ts';
import type { EventsConfig } from './settings.ts';

/** A queued event or a `test.ping`. */
interface Message {
  readonly type: string;
  readonly id: string;
  /** When it happened, in milliseconds since the epoch. */
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

type Sent =
  | { readonly kind: 'taken'; readonly status: number }
  /** The backend answered, but did not accept this message. */
  | { readonly kind: 'refused'; readonly status: number; readonly retryAfter: string | undefined }
  /** It did not answer, or is unavailable. */
  | { readonly kind: 'down'; readonly reason: string; readonly retryAfter: string | undefined }
  /** It wants no more events (410 in Standard Webhooks). */
  | { readonly kind: 'gone' };

/** Sends one message, once. Never rejects because of the backend. */
export type SendMessage = (message: Message, signal?: AbortSignal) => Promise<Sent>;

/** Too many requests, and the statuses of proxies that cannot reach the backend. */
const DOWN = new Set([429, 502, 503, 504]);

/** `keys` sign, the current key first. */
export function eventSender(
  call: CallUpstream,
  { upstream, path }: Pick<EventsConfig, 'upstream' | 'path'>,
  keys: readonly Buffer[],
  clock: Clock,
): SendMessage {
  const signing = keys.map((key) => createSecretKey(key));
  return async ({ type, id, at, data }, signal) => {
    const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });
    try {
      const { status, headers } = await call({
        upstream,
        path,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...signedFields(id, unixSeconds(clock), body, signing) },
        body,
        ...(signal === undefined ? {} : { signal }),
      });
      const retryAfter = headers['retry-after'];
      if (status >= 200 && status < 300) return { kind: 'taken', status };
      if (status === 410) return { kind: 'gone' };
      if (DOWN.has(status)) return { kind: 'down', reason: String(status), retryAfter };
      return { kind: 'refused', status, retryAfter };
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown;
      return { kind: 'down', reason: thrown.code, retryAfter: undefined };
    }
  };
}

/**
 * The header fields of Standard Webhooks (standardwebhooks.com, "Signature scheme"). `id` is the same at each attempt,
 * `seconds` is the Unix time of this attempt, and `keys` are ordered current key first.
 */
function signedFields(
  id: string,
  seconds: number,
  body: string,
  keys: readonly KeyObject[],
): Readonly<Record<string, string>> {
  const text = `${id}.${seconds}.${body}`;
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(text).digest('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': signatures.join(' ') };
}
