import { GatewayError } from '../errors.ts';
import { decodedOnce } from './percent.ts';
import type { Target } from './target.ts';

/**
 * Characters that nobody sees and many programs drop: controls, format and bidirectional controls, line separators,
 * private and unassigned code points, and all that Unicode calls default-ignorable (soft hyphen, zero-width space,
 * variation selectors). NFKC_Casefold (UAX #31) removes them.
 */
export const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const HAS_INVISIBLE = new RegExp(INVISIBLE.source, 'u');
const ASCII_SIGN = /[ -/:-@[-`{-~]/;

/**
 * Whether a decoded path segment has characters that a backend may drop, or turn into a space or an ASCII sign such as
 * `/`, `.` or `%` (compatibility forms, RFC 3454 section 4): another path then than the one that was judged.
 */
export function isAmbiguous(segment: string): boolean {
  if (HAS_INVISIBLE.test(segment)) return true;
  for (const character of segment) {
    if (character > '\x7F' && ASCII_SIGN.test(character.normalize('NFKD'))) return true;
  }
  return false;
}

/**
 * For protected routes, where a backend must not read another request than the one that was judged. Parameter values
 * may hold anything. Names may hold brackets, encoded or not (`filter[x]`, `filter%5Bx%5D`), but nothing that divides
 * parameters once it is decoded: `user_id%3D1002=1` is `user_id=1002` to a backend that decodes twice.
 * Throws GatewayError `invalid_request`.
 */
export function refuseAmbiguousTarget({ path, query }: Target): void {
  if (path.includes('%') && path.split('/').some((segment) => isAmbiguous(decodeURIComponent(segment)))) {
    throw new GatewayError('invalid_request', {
      message: 'The path has invisible characters, or characters that a backend could take for a sign such as / or %.',
    });
  }
  if (query.includes('%') && query.slice(1).split(/[&;]/).some(dividesOnceDecoded)) {
    throw new GatewayError('invalid_request', {
      message: 'The name of a query parameter has an encoded =, & or ; in it.',
    });
  }
}

function dividesOnceDecoded(piece: string): boolean {
  let [name = ''] = piece.split('=', 1);
  for (let times = 0; times < 3 && name.includes('%'); times += 1) {
    name = decodedOnce(name);
    if (/[=&;]/.test(name)) return true;
  }
  return false;
}
