import { createHash, createHmac, randomBytes } from 'node:crypto';
import { isSameSecret } from '../../http/same-secret.ts';

/** The header field of a signed command: `t=<Unix seconds>,n=<nonce>,v1=<64 hexadecimal digits>`. */
export const SIGNATURE_FIELD = 'coursegate-signature';

/** Seconds by which the clocks of the backend and the gate may differ. */
export const WINDOW = 300;

const FORM = /^t=(\d{1,12}), ?n=([A-Za-z0-9._~-]{16,128}), ?v1=([0-9a-f]{64})$/;

export interface SignedCommand {
  /** The value of the field, if there is one. */
  readonly field: string | undefined;
  readonly method: string;
  /** The request target as it was sent: path and query, with its percent-encoding. */
  readonly target: string;
  readonly body: Buffer;
}

export type SignatureVerdict =
  /** `mark` identifies the command, so that a replayed one can be recognised. */
  { readonly kind: 'valid'; readonly mark: string } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Verifies that a command was signed with one of the secrets, at most WINDOW seconds from now. The signature is
 * HMAC-SHA-256 over five lines: `coursegate-v1`, the time, the nonce, method and target, and the SHA-256 of the body.
 * `now` is in Unix seconds. The reason of a refusal can be returned to the caller: it reveals only the gate's time.
 */
export function verifySignature(
  { field, method, target, body }: SignedCommand,
  secrets: readonly string[],
  now: number,
): SignatureVerdict {
  if (field === undefined) return refused('the command is not signed: add a Coursegate-Signature header');
  const [, time = '', nonce = '', shown = ''] = FORM.exec(field) ?? [];
  if (shown === '')
    return refused('Coursegate-Signature must be t=<Unix seconds>,n=<16 or more letters and digits>,v1=<hex>');
  if (Math.abs(now - Number(time)) > WINDOW)
    return refused(`the command was signed more than ${WINDOW} seconds from now, which is ${now} by the gate's clock`);
  const text = signedText({ time, nonce, method, target, body });
  // Every secret is tried, so that the time taken does not reveal which one matched.
  const matching = secrets.filter((secret) => isSameSecret(shown, hmac(text, secret)));
  return matching.length > 0
    ? { kind: 'valid', mark: shown }
    : refused('the signature does not match this method, path, body and time with the shared secret');
}

/** The value of the header field for a command. `now` is in Unix seconds. */
export function signCommand(
  { method, target, body }: Pick<SignedCommand, 'method' | 'target' | 'body'>,
  secret: string,
  now: number,
): string {
  const nonce = randomBytes(16).toString('hex');
  const text = signedText({ time: String(now), nonce, method, target, body });
  return `t=${now},n=${nonce},v1=${hmac(text, secret)}`;
}

interface SignedParts extends Pick<SignedCommand, 'method' | 'target' | 'body'> {
  readonly time: string;
  readonly nonce: string;
}

function signedText({ time, nonce, method, target, body }: SignedParts): string {
  const digest = createHash('sha256').update(body).digest('hex');
  return ['coursegate-v1', time, nonce, `${method} ${target}`, digest].join('\n');
}

function hmac(text: string, secret: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

function refused(reason: string): SignatureVerdict {
  return { kind: 'refused', reason };
}
