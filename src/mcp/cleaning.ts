/**
 * What text of the school may bring into a model's context, beyond words: escape sequences for terminals, characters
 * that nobody sees but a model reads (tags, zero width, direction overrides), scripts, and pictures that are fetched to
 * carry something away. The words stay: they are data, whatever they say.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const ANSI = /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;
const INVISIBLE =
  /\u034F|[\u00AD\u061C\u115F\u1160\u17B4\u17B5\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF0-\uFFFB]|[\u{E0000}-\u{E0FFF}]|[\u{1D173}-\u{1D17A}]/gu;
/** Joiners belong into Persian, Hindi and family emoji; beside plain letters they only hide something. */
const STRAY_JOINER = /(?<![\u0080-\u{10FFFF}])[\u200C\u200D]+|[\u200C\u200D]+(?![\u0080-\u{10FFFF}])/gu;
const COMMENT = /<!--[\s\S]*?(?:-->|$)/g;
const SCRIPT_LINK = /\b(?:javascript|vbscript)\s*:|\bdata\s*:\s*[a-z]+\/[a-z0-9.+-]+\s*[;,]/gi;
const PICTURE = /!(?=\[[^\]]{0,500}\]\s{0,10}[([])/g;

/** Letters of Europe, digits and ordinary signs, in which there is nothing to take out unless SUSPECT finds it: most texts. */
const PLAIN = /^[\t\n -~\u00A0-\u00AC\u00AE-\u024F\u2010-\u2027]*$/;
const SUSPECT = /<!--|!\[|(?:script|data)\s*:/i;

/** In: a text of an upstream, and its longest length in characters. Out: what a model may read of it. */
function cleanText(text: string, longest: number): string {
  if (text.length <= longest && PLAIN.test(text) && !SUSPECT.test(text)) return text;
  // Bounded first: what is cut off need not be looked at.
  const head = text.length > longest * 4 ? text.slice(0, longest * 4) : text;
  const clean = head
    .toWellFormed()
    .replace(ANSI, '')
    .replace(/\r\n?/g, '\n')
    .replace(CONTROL, '')
    .replace(INVISIBLE, '')
    .replace(STRAY_JOINER, '')
    .replace(COMMENT, '')
    .replace(SCRIPT_LINK, 'blocked:')
    .replace(PICTURE, '');
  if (clean.length <= longest && head.length === text.length) return clean;
  return `${clean.slice(0, longest).toWellFormed()} [cut off here]`;
}

const DEEPEST = 32;

/** Cleans every text of a JSON value, names too. What is nested deeper than any answer of ours becomes null. */
export function cleanValue(value: unknown, longest: number, depth = 0): unknown {
  if (typeof value === 'string') return cleanText(value, longest);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST) return null;
  if (Array.isArray(value)) return value.map((item) => cleanValue(item, longest, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [cleanText(name, 200), cleanValue(item, longest, depth + 1)]),
  );
}
