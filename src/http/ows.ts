/**
 * Removes the optional white space around a part of a field value (RFC 9110 section 5.6.3). Runs in linear time, unlike
 * the usual regular expression, which takes quadratic time on runs of spaces inside the part.
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
