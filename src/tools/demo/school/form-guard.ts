import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const NONCE = /^[\w-]{22}$/;

/**
 * Verifies that a form was posted from a page of this school: the hidden field must match the visitor's cookie and
 * session. Both are needed, so that a planted cookie does not work for a signed-in visitor.
 */
export class FormGuard {
  readonly #key = randomBytes(32);

  /** The visitor's cookie if it is valid, otherwise a new one. */
  nonce(cookie: string | undefined): string {
    return cookie !== undefined && NONCE.test(cookie) ? cookie : randomBytes(16).toString('base64url');
  }

  /** The value of the hidden field `csrf`. */
  field(nonce: string, sessionId: string | undefined): string {
    return createHmac('sha256', this.#key)
      .update(`${nonce}.${sessionId ?? ''}`)
      .digest('base64url');
  }

  /** Whether a posted field matches the visitor's cookie and session. */
  accepts(posted: string, cookie: string | undefined, sessionId: string | undefined): boolean {
    if (cookie === undefined || !NONCE.test(cookie)) return false;
    const expected = Buffer.from(this.field(cookie, sessionId));
    const given = Buffer.from(posted);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}
