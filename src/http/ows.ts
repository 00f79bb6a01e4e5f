/**
 * A part of a field value without the optional white space around it (RFC 9110 §5.6.3). In linear time, which the usual
 * pattern for it is not: it looks at a run of spaces within the part from each of them.
 */
export function withoutOws(part: string): string {
  let [from, to] = [0, part.length];
  while (from < to && isOws(part.charCodeAt(from))) from += 1;
  while (to > from && isOws(part.charCodeAt(to - 1))) to -= 1;
  return part.slice(from, to);
}

function isOws(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
