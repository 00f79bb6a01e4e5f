import { createHmac, randomBytes } from 'node:crypto';
import { isSameSecret } from '../../http/same-secret.ts';

/** Seconds for which a link can be used. */
export const LINK_LIFETIME = 60;

const FORM = /^(\d{1,12})\.([0-9a-f]{32})\.([0-9a-f]{64})$/;

/**
 * The value of `link` at /console/sign-in, which opens one session. `now` is in Unix seconds. The link is valid below
 * `mount` alone, since the operators of a process sign in to all of its schools with one secret.
 */
export function signLink(secret: string, now: number, mount = ''): string {
  const nonce = randomBytes(16).toString('hex');
  return `${now}.${nonce}.${macOf(secret, String(now), nonce, mount)}`;
}

/**
 * The secret that signed the link, and a mark that identifies it, so that it is used once. Undefined if no secret signed
 * it for `mount`, or not within LINK_LIFETIME.
 */
export function verifyLink(link: string, secrets: readonly string[], now: number, mount: string) {
  const [, time = '', nonce = '', mark = ''] = FORM.exec(link) ?? [];
  if (mark === '' || Math.abs(now - Number(time)) > LINK_LIFETIME) return undefined;
  // Every secret is tried, so that the time taken does not reveal which one matched.
  const [secret] = secrets.filter((one) => isSameSecret(mark, macOf(one, time, nonce, mount)));
  return secret === undefined ? undefined : { secret, mark };
}

/**
 * A name of this computer that others cannot guess. Cookies do not tell ports apart: under this name, the browser shows
 * the session to no other program that listens on the computer. Browsers resolve every name under .localhost to the
 * computer itself (RFC 6761 section 6.3).
 */
export function privateHost(secret: string): string {
  const mark = createHmac('sha256', secret).update('coursegate-console-host').digest('hex').slice(0, 20);
  return `console-${mark}.localhost`;
}

function macOf(secret: string, time: string, nonce: string, mount: string): string {
  return createHmac('sha256', secret).update(`coursegate-console-v1\n${time}\n${nonce}${mount}`).digest('hex');
}
