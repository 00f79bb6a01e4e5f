/**
 * How a value is cut: lists after `most` items (lists inside of list items only if `within` is set), and texts after
 * `longest` characters.
 */
export interface Cut {
  readonly most: number;
  readonly within: boolean;
  readonly longest: number;
}

const WHOLE: Cut = { most: Number.POSITIVE_INFINITY, within: false, longest: Number.POSITIVE_INFINITY };

/** Whether a value, cut like this, takes at most `room` bytes as JSON in UTF-8. Reads no more of it than would fit. */
export function fitsInto(room: number, value: unknown, cut: Cut = WHOLE): boolean {
  return left(room, value, cut) >= 0;
}

/** Bytes left of `room`; negative if it was too small. */
function left(room: number, value: unknown, cut: Cut): number {
  if (typeof value === 'string') return room - sizeOfText(value, Math.min(cut.longest, room));
  if (typeof value === 'number') return room - String(value).length;
  if (typeof value !== 'object' || value === null) return room - (JSON.stringify(value) ?? '').length;
  let rest = room - 2;
  if (Array.isArray(value)) {
    const inner = cut.within ? cut : { ...cut, most: Number.POSITIVE_INFINITY };
    for (let at = 0; at < value.length && at < cut.most && rest >= 0; at += 1) {
      rest = left(at === 0 ? rest : rest - 1, value[at] ?? null, inner);
    }
    return rest;
  }
  let isFirst = true;
  for (const name in value) {
    const item = (value as Record<string, unknown>)[name];
    if (item === undefined) continue;
    rest = left(rest - sizeOfText(name, room) - (isFirst ? 1 : 2), item, cut);
    if (rest < 0) return rest;
    isFirst = false;
  }
  return rest;
}

/** Characters that JSON does not escape and UTF-8 encodes in one byte. */
const BARE = /^[ !#-[\]-~]*$/;

function sizeOfText(text: string, longest: number): number {
  if (text.length <= longest && BARE.test(text)) return text.length + 2;
  return Buffer.byteLength(JSON.stringify(text.length > longest ? text.slice(0, longest + 1) : text));
}
