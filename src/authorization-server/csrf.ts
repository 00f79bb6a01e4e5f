import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PageFailure } from './pages/page-failure.ts';

/** What tokens are made with; the first makes new ones. */
export type CsrfKeys = readonly [Buffer, ...Buffer[]];

/** A form's CSRF token: bound to one interaction, or one act, and to the member it was shown to ('' for nobody). */
export function csrfToken(keys: CsrfKeys, uid: string, member: string): string {
  return tokenOf(keys[0], uid, member);
}

function tokenOf(key: Buffer, uid: string, member: string): string {
  return createHmac('sha256', key).update(`csrf\0${uid}\0${member}`).digest('base64url');
}

/** In: what a form brought, if anything, and what it was shown for. Every key counts: it may have been made before a rotation. */
export function isCsrfToken(given: string | null, keys: CsrfKeys, uid: string, member: string): boolean {
  const shown = Buffer.from(given ?? '');
  return keys.some((key) => {
    const known = Buffer.from(tokenOf(key, uid, member));
    return shown.length === known.length && timingSafeEqual(shown, known);
  });
}

/**
 * Our forms are ours alone to post (login and consent CSRF). Browsers say where a form came from: Sec-Fetch-Site first,
 * because the pages' referrer policy makes Origin "null" even at home. Throws `forbidden`.
 */
export function refuseCrossSite(request: IncomingMessage, origin: string): void {
  const site = request.headers['sec-fetch-site'];
  const from = request.headers.origin;
  const ours = site !== undefined ? site === 'same-origin' : from === undefined || from === origin;
  if (!ours) throw new PageFailure('forbidden', 'failure.other_site');
}
