import { decodedOnce } from '../../http/percent.ts';

/**
 * Parameter names that let a POST stand for another method. `_method` is read by Symfony and Laravel (query, form,
 * JSON), Rack and Rails (form), Spring's HiddenHttpMethodFilter, WordPress REST (query, on any method), CakePHP,
 * CodeIgniter, Yii, Slim, Plug, Mojolicious and Express' method-override; `_HttpMethod` by Salesforce;
 * `X-HTTP-Method-Override` as a parameter by ASP.NET MVC, ServiceStack and Firebase; `x-tunneled-method` by Catalyst.
 * Written here without separators. The first two count only with a separator in front, because `method` alone is a
 * common name (JSON-RPC, payments).
 */
const AFTER_SEPARATOR = new Set(['method', 'httpmethod']);
const ANYWHERE = new Set([
  'httpmethodoverride',
  'methodoverride',
  'xhttpmethod',
  'xhttpmethodoverride',
  'xmethodoverride',
  'xtunneledmethod',
]);

const SEPARATORS = /[^\p{L}\p{N}]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const ASCII = /^[\x00-\x7F]*$/;
/** Matches every name above, with separators anywhere. */
const HAS_METHOD = /m[^a-z0-9]*e[^a-z0-9]*t[^a-z0-9]*h[^a-z0-9]*o[^a-z0-9]*d/i;
/** How many times a name may be decoded: by the framework, and by a proxy or a rewrite rule before it. */
const DECODINGS = 3;

/** `hidden`: only a backend that decodes more than once reads it as an override, and its value is unknown. */
type OverrideName = 'none' | 'plain' | 'hidden';

/**
 * Whether a framework might read `raw` as the name of a method override.
 * @param raw the name as sent in a query or a form, percent-encoding included; UTF-8 bytes may be one character each
 */
export function overrideName(raw: string): OverrideName {
  if (isOverride(raw)) return 'plain';
  let level = raw.includes('+') ? raw.replaceAll('+', ' ') : raw;
  for (let times = 0; times <= DECODINGS; times += 1) {
    if (level !== raw && isOverride(level)) return 'plain';
    if (dividesInside(level)) return 'hidden';
    const decoded = decodedOnce(level);
    if (decoded === level) break;
    level = decoded;
  }
  return 'none';
}

/** Whether a name contains an override for a server that decodes it before it splits the pairs. */
function dividesInside(level: string): boolean {
  if (!/[&;=]/.test(level)) return false;
  return level.split(/[&;]/).some((piece) => isOverride(piece.split('=', 1)[0] ?? ''));
}

/** Like `overrideName`, for a name that is not percent-encoded: a member of a JSON object. */
export function isOverride(name: string): boolean {
  // A fast path for nearly all names: a body may have hundreds of thousands.
  if (ASCII.test(name) && !HAS_METHOD.test(name)) return false;
  const text = utf8(name)
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
  // C ends a name at NUL. PHP and Rack read `_method[]` as `_method`, and Rack also reads `[_method]` as `_method`.
  const [start = ''] = text.split('\0');
  const bare = start.replace(/^[[\]]+/, '');
  return [text, start, bare, bare.split(/[[\]]/, 1)[0] ?? ''].some((reading) => {
    const joined = reading.replace(SEPARATORS, '');
    // PHP turns `.method` and ` _method` into `_method`.
    return ANYWHERE.has(joined) || (AFTER_SEPARATOR.has(joined) && /^[^\p{L}\p{N}]/u.test(reading));
  });
}

/** Whether there are only separators so far: a name that is too long to keep may still become an override. */
export function isOnlySeparators(raw: string): boolean {
  let text = raw;
  for (let times = 0; times < DECODINGS; times += 1) text = decodedOnce(text);
  return utf8(text).replace(SEPARATORS, '') === '';
}

/** The method that a value asks for, as frameworks read it; undefined if it cannot be a method. */
export function methodOf(raw: string): string | undefined {
  const method = decodedOnce(raw.replaceAll('+', ' ')).trim().toUpperCase();
  return /^[A-Z]{1,16}$/.test(method) ? method : undefined;
}

/** Decodes a UTF-8 text that was read as Latin-1, one character per byte. */
function utf8(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes are what is looked for
  return /^[\x00-\xFF]*$/.test(text) && /[\x80-\xFF]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
}
