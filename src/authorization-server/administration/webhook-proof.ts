import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isSameSecret } from '../../http/same-secret.ts';

/** HMAC-SHA-256 in hex (GitHub) or Base64 (WooCommerce, Shopify, Frappe). */
const HEX = /^(?:sha256=)?([0-9a-f]{64})$/i;
const BASE64 = /^(?:sha256=)?([A-Za-z0-9+/]{43}=)$/;
/** As Stripe and LifterLMS sign: a time, and one or more HMACs of time and body. */
const STAMPED = /^t=(\d{1,12})((?:, ?v\d=[0-9a-f]{64})+)$/i;

/** Each one costs an HMAC of the whole body, before anything is known about the sender. */
const MOST_STAMPS = 4;

/**
 * Looks in the header fields for a proof that the sender knows the secret: an HMAC-SHA-256 of the body in any of the
 * usual forms, or the secret itself. Its field need not be configured, because only the secret makes a proof.
 *
 * Returns what identifies the signed message, so that a replay can be recognised; undefined if there is no proof. The
 * time of a stamped signature is not compared with the clock: LifterLMS signs the site's local time.
 */
export function webhookProof(headers: IncomingHttpHeaders, body: Buffer, secret: string): string | undefined {
  const sign = (...parts: readonly (string | Buffer)[]) =>
    parts.reduce((hmac, part) => hmac.update(part), createHmac('sha256', secret)).digest();
  const signature = sign(body);
  let stamps = 0;
  for (const value of Object.values(headers).flat()) {
    if (value === undefined) continue;
    const [, time, macs = ''] = STAMPED.exec(value) ?? [];
    if (time !== undefined) stamps += 1;
    if (stamps > MOST_STAMPS) return undefined;
    const expected = time === undefined ? signature : sign(`${time}.`, body);
    const shown = time === undefined ? macIn(value) : macs.split(',').slice(1).map(stampedMac);
    const proved =
      shown.some((mac) => timingSafeEqual(mac, expected)) || isSameSecret(value.replace(/^Bearer /i, ''), secret);
    if (proved) return expected.toString('base64url');
  }
  return undefined;
}

function macIn(value: string): readonly Buffer[] {
  const [, hex] = HEX.exec(value) ?? [];
  const [, base64] = BASE64.exec(value) ?? [];
  if (hex !== undefined) return [Buffer.from(hex, 'hex')];
  return base64 === undefined ? [] : [Buffer.from(base64, 'base64')];
}

/** The HMAC in `v1=…`. */
function stampedMac(part: string): Buffer {
  return Buffer.from(part.trim().slice(3), 'hex');
}
