/**
 * Replaces ids in a canonical path by `*`: numbers, UUIDs, dates, hashes, addresses, long segments with a digit, and
 * segments that are not plain ASCII. The result can be used as a route's pattern.
 */
export function pathTemplate(path: string): string {
  const segments = path.split('/');
  return segments.map((segment) => (isOneOfMany(segment) ? '*' : segment)).join('/');
}

function isOneOfMany(segment: string): boolean {
  if (segment === '') return false;
  // `v1` and `oauth2` are part of an API's naming; `42` and `a1b2c3d4e5` are ids.
  return (
    segment.length > 40 ||
    /[%@*{}:;]/.test(segment) ||
    /^[\d.,_-]*\d[\d.,_-]*$/.test(segment) ||
    /^[0-9a-f]{8}-[0-9a-f]{4}-/i.test(segment) ||
    (segment.length >= 8 && /^[0-9a-f]+$/i.test(segment) && /\d/.test(segment)) ||
    (segment.length >= 12 && /\d/.test(segment) && /[A-Za-z]/.test(segment)) ||
    /\d{3,}/.test(segment) ||
    // Mixed case like a random id without digits.
    (segment.length >= 16 && /[a-z]/.test(segment) && /[A-Z].*[A-Z].*[A-Z]/.test(segment))
  );
}
