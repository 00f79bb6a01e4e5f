import { decodedComponent, normalisedEscapes } from '../http/percent.ts';

/** A request target in its one canonical form: what is authorized, and byte for byte what the upstream is sent. */
export interface Target {
  /** Canonical, percent-encoded, starts with '/'. */
  readonly path: string;
  /** '' or '?…' exactly as sent. Routing ignores it. */
  readonly query: string;
}

/**
 * Characters that are not displayed and that many programs drop: control, format and bidirectional characters, line
 * separators, private-use and unassigned code points, and everything that Unicode calls default-ignorable (soft hyphen,
 * zero-width space, variation selectors). NFKC_Casefold (UAX #31) removes them.
 */
export const INVISIBLE = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** In characters. */
export const LONGEST_TARGET = 8192;
const VISIBLE_ASCII = /^[\x21-\x7E]+$/;
/** RFC 3986 section 3.3 pchar without ';': servers disagree on what a path parameter is (`/public/..;/admin`). */
const PLAIN_PATH = /^[A-Za-z0-9\-._~!$&'()*+,=:@/]*$/;
/** At the end of a segment. */
const FINAL_DOT = /\.(\/|$)/;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const DOUBLE_ESCAPE = /%25[0-9A-Fa-f]{2}/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const FORBIDDEN_DECODED = /[\x00-\x1F\x7F-\x9F/\\;]/;

/**
 * Parses a request target (RFC 9112 section 3.2). Returns undefined if it is refused (the response is a 400).
 *
 * Accepts the origin-form, and the absolute-form with our own origin. Refuses everything that two servers might read
 * differently: empty and dot segments in any encoding, backslash, ';', encoded slashes, control characters, '#',
 * non-ASCII bytes, invalid or overlong UTF-8, double encoding, and segments that end in a dot or a space, also after
 * compatibility forms are converted to ASCII and invisible characters are removed. Percent-encoded unreserved
 * characters are decoded and other escapes are written in upper case (RFC 3986 section 6.2.2).
 * @param raw the target as received
 * @param origin our own origin (`https://school.example`)
 */
export function parseTarget(raw: string, origin: string): Target | undefined {
  if (raw.length > LONGEST_TARGET || !VISIBLE_ASCII.test(raw) || raw.includes('#')) return undefined;
  const form = raw.startsWith('/') ? raw : originForm(raw, origin);
  if (form === undefined) return undefined;
  const mark = form.indexOf('?');
  const path = canonicalPath(mark === -1 ? form : form.slice(0, mark));
  const query = mark === -1 ? '' : form.slice(mark);
  if (path === undefined || path.length + query.length > LONGEST_TARGET) return undefined;
  return { path, query };
}

/** A server must accept the absolute-form (RFC 9112 section 3.2.2). We do not serve any other origin. */
function originForm(raw: string, origin: string): string | undefined {
  if (raw.slice(0, origin.length).toLowerCase() !== origin.toLowerCase()) return undefined;
  const rest = raw.slice(origin.length);
  if (rest.startsWith('/')) return rest;
  return rest === '' || rest.startsWith('?') ? `/${rest}` : undefined;
}

/** Takes a path that starts with '/'. Returns its canonical form, or undefined if it must be refused. */
export function canonicalPath(path: string): string | undefined {
  if (path.includes('//')) return undefined;
  if (PLAIN_PATH.test(path)) return FINAL_DOT.test(path) ? undefined : path;
  const canonical = normalise(path);
  if (canonical === undefined) return undefined;
  return canonical.slice(1).split('/').every(isSafeSegment) ? canonical : undefined;
}

function normalise(path: string): string | undefined {
  if (/[\\;]/.test(path) || BROKEN_ESCAPE.test(path)) return undefined;
  const canonical = normalisedEscapes(path);
  // Checked after decoding, so that '%25%36%31' is seen as what it becomes: '%2561'.
  return DOUBLE_ESCAPE.test(canonical) ? undefined : canonical;
}

function isSafeSegment(segment: string): boolean {
  if (!segment.includes('%')) return !segment.endsWith('.');
  const decoded = decodedComponent(segment);
  if (decoded === undefined) return false;
  // Compatibility forms (fullwidth '／', one dot leader) become ASCII in upstreams that normalise or use a code page.
  const folded = decoded.normalize('NFKC');
  if (FORBIDDEN_DECODED.test(folded) || FORBIDDEN_DECODED.test(decoded)) return false;
  // What remains for an upstream that drops invisible characters.
  const visible = folded.replace(INVISIBLE, '');
  return visible !== '' && !/^\.{1,2}$|[.\s]$|%[0-9A-Fa-f]{2}/.test(visible);
}
