import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const NONCE = /^[\w-]{22}$/;

/**
 * Proof that a form was posted from a page of this school: the hidden field must answer to the visitor's own cookie
 * and session. Both are needed, so that a cookie planted from elsewhere does not fit a signed-in visitor.
 */
export class FormGuard {
  readonly #key = randomBytes(32);

  /** In: the cookie as it came. Out: the same when it is one of ours, else a new one. */
  nonce(cookie: string | undefined): string {
    return cookie !== undefined && NONCE.test(cookie) ? cookie : randomBytes(16).toString('base64url');
  }

  /** In: the visitor's cookie and session id. Out: the value of the hidden field `csrf`. */
  field(nonce: string, sessionId: string | undefined): string {
    return createHmac('sha256', this.#key)
      .update(`${nonce}.${sessionId ?? ''}`)
      .digest('base64url');
  }

  /** Out: whether a posted field answers to the visitor's cookie and session. */
  accepts(posted: string, cookie: string | undefined, sessionId: string | undefined): boolean {
    if (cookie === undefined || !NONCE.test(cookie)) return false;
    const expected = Buffer.from(this.field(cookie, sessionId));
    const given = Buffer.from(posted);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}
