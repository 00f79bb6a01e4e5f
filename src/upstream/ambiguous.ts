import { invalidRequest } from '../errors.ts';
import { decodings } from '../http/percent.ts';
import { INVISIBLE, type Target } from './target.ts';

const HAS_INVISIBLE = new RegExp(INVISIBLE.source, 'u');
const ASCII_SIGN = /[ -/:-@[-`{-~]/;

/**
 * Whether a decoded path segment contains characters that a backend may drop, or may turn into a space or ASCII
 * punctuation such as `/`, `.` or `%` (compatibility forms, RFC 3454 section 4). The backend would then see a different
 * path from the one that was authorized.
 */
export function isAmbiguous(segment: string): boolean {
  if (HAS_INVISIBLE.test(segment)) return true;
  for (const character of segment) {
    if (character > '\x7F' && ASCII_SIGN.test(character.normalize('NFKD'))) return true;
  }
  return false;
}

/**
 * For protected routes, where a backend must not read a different request from the one that was authorized. Parameter
 * values may contain anything. Names may contain brackets, encoded or not (`filter[x]`, `filter%5Bx%5D`), but nothing
 * that separates parameters once it is decoded: `user_id%3D1002=1` is `user_id=1002` to a backend that decodes twice.
 * Throws GatewayError `invalid_request`.
 */
export function refuseAmbiguousTarget({ path, query }: Target): void {
  if (path.includes('%') && path.split('/').some((segment) => isAmbiguous(decodeURIComponent(segment))))
    throw invalidRequest(
      'The path has invisible characters, or characters that a backend could take for a sign such as / or %.',
    );
  if (query.includes('%') && query.slice(1).split(/[&;]/).some(dividesOnceDecoded))
    throw invalidRequest('The name of a query parameter has an encoded =, & or ; in it.');
}

function dividesOnceDecoded(piece: string): boolean {
  return decodings(piece.split('=', 1)[0] ?? '').some((name) => /[=&;]/.test(name));
}
