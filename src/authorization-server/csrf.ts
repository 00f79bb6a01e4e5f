import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PageFailure } from './pages/page-failure.ts';

/** The keys of CSRF tokens; the first signs new ones. */
export type CsrfKeys = readonly [KeyObject, ...KeyObject[]];

/** A form's CSRF token: bound to one interaction or action, and to the member it was shown to ('' if not signed in). */
export function csrfToken(keys: CsrfKeys, uid: string, member: string): string {
  return tokenOf(keys[0], uid, member);
}

function tokenOf(key: KeyObject, uid: string, member: string): string {
  return createHmac('sha256', key).update(`csrf\0${uid}\0${member}`).digest('base64url');
}

/** Checks a form's token in constant time. All keys are accepted: the form may have been shown before a rotation. */
export function isCsrfToken(given: string | null, keys: CsrfKeys, uid: string, member: string): boolean {
  const shown = Buffer.from(given ?? '');
  return keys.some((key) => {
    const known = Buffer.from(tokenOf(key, uid, member));
    return shown.length === known.length && timingSafeEqual(shown, known);
  });
}

/**
 * Refuses forms posted from another site (login and consent CSRF). Checks Sec-Fetch-Site first: the pages' referrer
 * policy makes browsers send `Origin: null` even from our own pages. Throws `forbidden`.
 */
export function refuseCrossSite(request: IncomingMessage, origin: string): void {
  const site = request.headers['sec-fetch-site'];
  const from = request.headers.origin;
  const ours = site !== undefined ? site === 'same-origin' : from === undefined || from === origin;
  if (!ours) throw new PageFailure('forbidden', 'failure.other_site');
}
