import { withoutOws } from '../../http/ows.ts';
import { cookieName } from '../cookies.ts';

/** What an answer does to one cookie of a session: another value, or undefined: it is gone. */
export interface CookieChange {
  readonly name: string;
  readonly value: string | undefined;
}

/**
 * What an answer's Set-Cookie fields (RFC 6265 §5.2) do to the cookies that are told. In: the raw fields, which names
 * count, and the time in milliseconds. The last of a name counts. Attributes that say where a browser may send it are
 * passed over: we send it to the upstream that set it, and nowhere else.
 */
export function cookieChanges(
  raw: readonly string[],
  listed: (name: string) => boolean,
  now: number,
): readonly CookieChange[] {
  const changes = new Map<string, CookieChange>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== 'set-cookie') continue;
    const [pair = '', ...attributes] = (raw[at + 1] as string).split(';');
    const equals = pair.indexOf('=');
    const name = cookieName(pair);
    if (equals <= 0 || !listed(name)) continue;
    const value = withoutOws(pair.slice(equals + 1));
    changes.set(name, { name, value: isOver(attributes, now) ? undefined : value });
  }
  return [...changes.values()];
}

/** Max-Age wins over Expires (RFC 6265 §5.3). */
function isOver(attributes: readonly string[], now: number): boolean {
  let over = false;
  for (const attribute of attributes) {
    const [, name = '', value = ''] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(attribute) ?? [];
    if (name.toLowerCase() === 'max-age' && /^-?\d+$/.test(value)) return Number(value) <= 0;
    if (name.toLowerCase() === 'expires' && Date.parse(value) <= now) over = true;
  }
  return over;
}
