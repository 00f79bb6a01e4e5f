const LONGEST_NAME = 64;

/**
 * Control characters, lone surrogates, private use, unassigned, line breaks, and invisible characters except variation
 * selectors, which emoji use.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?![\uFE00-\uFE0F])\p{Default_Ignorable_Code_Point}/u;
const PILED_MARKS = /\p{M}{5,}/u;
const BLANK = /^(?:[\s\u2800]|[\uFE00-\uFE0F])*$/u;

/**
 * Checks `client_name`, which members read on the consent page. A name that could pretend to be another text
 * (bidirectional controls, zero-width characters) is refused, not cleaned, so that the app's author sees why.
 * @param name - in NFC
 * @returns what is wrong with it; undefined if nothing
 */
export function clientNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return 'must be text';
  if ([...name].length > LONGEST_NAME) return `must have at most ${LONGEST_NAME} characters`;
  if (UNSEEN.test(name)) return 'must hold no control, bidirectional or zero-width characters';
  if (PILED_MARKS.test(name)) return 'must not pile accents';
  if (BLANK.test(name)) return 'must be more than blanks';
  return undefined;
}

const LONGEST_URI = 2048;

/**
 * Checks `client_uri`, `logo_uri`, `tos_uri` and `policy_uri`: URLs that may be shown to a member. They are never
 * fetched or embedded. Returns what is wrong with one; undefined if nothing.
 */
export function clientUriProblem(uri: unknown): string | undefined {
  if (typeof uri !== 'string') return 'must be text';
  if (uri.length > LONGEST_URI) return `must have at most ${LONGEST_URI} characters`;
  if (!/^https:\/\/[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(uri)) return 'must be an https URL';
  const url = URL.parse(uri);
  if (url === null) return 'must be an https URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user information';
  return undefined;
}

/**
 * Checks `software_id` and `software_version` (RFC 7591 section 2): text of the author's choice, which is returned but
 * never compared.
 */
export function softwareProblem(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/.test(value)
    ? undefined
    : 'must be at most 128 characters of ASCII';
}
