/** Part of a text that must not be shown, as offsets; the end is exclusive. */
export type Span = readonly [start: number, end: number];

/** Keys whose values are kept out of every message, even if the schema has no such key. */
export const SECRET_KEY = /secret|passw|passphrase|credential|private|api[-_]?key|token$/i;

/** Such a key and the start of its value, anywhere in a line. A reference such as `{ env: NAME }` may be shown. */
const SECRET_LINE = new RegExp(
  `^.*?(?:${SECRET_KEY.source.replace('$', '')})["']?\\s*[:=]\\s*(?!\\{\\s*(?:env|file)\\s*:)(?=\\S)`,
  'i',
);
const USER_INFO = /\/\/[^/\s@]+@/g;
const WIDEST = 160;

/**
 * Returns the line that begins at `start` with a caret under the column; undefined when the line is too wide to be useful. The line is cut off
 * at the first secret, since the rest may belong to it.
 */
export function codeFrame(
  text: string,
  { line, column, start }: { readonly line: number; readonly column: number; readonly start: number },
  secrets: readonly Span[],
): string | undefined {
  const source = text.slice(start).split(/\r?\n/, 1)[0] ?? '';
  if (source.length > WIDEST) return undefined;
  const cut = Math.min(
    ...secrets.flatMap(([from, to]) => (from < start + source.length && to > start ? [from - start] : [])),
    secretOnLine(source),
  );
  const cutColumn = Math.max(0, cut);
  const mask = (part: string) => part.replace(USER_INFO, '//***@');
  const shown = mask(cutColumn < source.length ? `${source.slice(0, cutColumn)}***` : source);
  const before = mask(source.slice(0, Math.min(column - 1, cutColumn))).replace(/[^\t]/g, ' ');
  return `${String(line).padStart(6)} | ${shown}\n       | ${before}^`;
}

/** A fallback for text that does not parse, where no tree says which value belongs to which key. */
function secretOnLine(source: string): number {
  const match = SECRET_LINE.exec(source);
  return match === null ? Number.POSITIVE_INFINITY : match[0].length;
}
