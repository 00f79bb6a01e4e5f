/**
 * A path with what names one thing of many folded into `*`: numbers, UUIDs, dates, hashes, addresses, whatever is long
 * and holds a digit, and whatever is not plain ASCII. In: a canonical path. Out: a path that can be a route's pattern.
 */
export function pathTemplate(path: string): string {
  const segments = path.split('/');
  return segments.map((segment) => (isOneOfMany(segment) ? '*' : segment)).join('/');
}

function isOneOfMany(segment: string): boolean {
  if (segment === '') return false;
  // `v1` and `oauth2` are names of an interface, `42` and `a1b2c3d4e5` are not.
  return (
    segment.length > 40 ||
    /[%@*{}:]/.test(segment) ||
    /^[\d.,_-]*\d[\d.,_-]*$/.test(segment) ||
    /^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(segment) ||
    (segment.length >= 8 && /^[0-9a-f]+$/i.test(segment) && /\d/.test(segment)) ||
    (segment.length >= 12 && /\d/.test(segment) && /[A-Za-z]/.test(segment)) ||
    /\d{3,}/.test(segment) ||
    // As random ids without digits are spelled, and no name of an interface is.
    (segment.length >= 16 && /[a-z]/.test(segment) && /[A-Z].*[A-Z].*[A-Z]/.test(segment))
  );
}
