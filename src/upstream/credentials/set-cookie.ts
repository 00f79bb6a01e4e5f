import { fieldValues } from '../../http/field-values.ts';
import { withoutOws } from '../../http/ows.ts';
import { cookieName } from '../cookies.ts';

/** A change to one cookie of a session: its new value, or undefined if it was deleted. */
export interface CookieChange {
  readonly name: string;
  readonly value: string | undefined;
}

/**
 * The changes that a response's Set-Cookie fields (RFC 6265 section 5.2) make to cookies for which `listed` is true. If
 * a name occurs more than once, the last one counts. Domain, Path and similar attributes are ignored: we send the
 * cookie only to the upstream that set it.
 * @param raw the raw header fields
 * @param now milliseconds since the epoch
 */
export function cookieChanges(
  raw: readonly string[],
  listed: (name: string) => boolean,
  now: number,
): readonly CookieChange[] {
  const changes = new Map<string, CookieChange>();
  for (const cookie of fieldValues(raw, 'set-cookie')) {
    const [pair = '', ...attributes] = cookie.split(';');
    const equals = pair.indexOf('=');
    const name = cookieName(pair);
    if (equals <= 0 || !listed(name)) continue;
    const value = withoutOws(pair.slice(equals + 1));
    changes.set(name, { name, value: isOver(attributes, now) ? undefined : value });
  }
  return [...changes.values()];
}

/** Max-Age takes precedence over Expires (RFC 6265 section 5.3). */
function isOver(attributes: readonly string[], now: number): boolean {
  let over = false;
  for (const attribute of attributes) {
    const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(attribute) ?? [];
    if (name.toLowerCase() === 'max-age' && /^-?\d+$/.test(value)) return Number(value) <= 0;
    if (name.toLowerCase() === 'expires' && Date.parse(value) <= now) over = true;
  }
  return over;
}
