/** Segments this long that hold a digit may be a secret: a token somebody put there, a link to reset a password. */
const LONG = 20;
const LONGEST_SHOWN = 512;
const MASK = '***';

/**
 * A path as it may be written down. In: a path without query. Out: the path with every segment that could be a secret
 * replaced by `***`, and cut when it is very long. Words and the ids of a course (`/courses/42`) stay.
 */
export function shownPath(path: string): string {
  if (path.length <= LONG) return path;
  let from = 1;
  for (;;) {
    const slash = path.indexOf('/', from);
    const to = slash === -1 ? path.length : slash;
    if (to - from >= LONG) return masked(path);
    if (slash === -1) return path.length > LONGEST_SHOWN ? cut(path) : path;
    from = slash + 1;
  }
}

function masked(path: string): string {
  const shown = path
    .split('/')
    .map((segment) => (segment.length >= LONG && /\d|[a-z][A-Z]|^\S{64}/.test(segment) ? MASK : segment))
    .join('/');
  return shown.length > LONGEST_SHOWN ? cut(shown) : shown;
}

function cut(path: string): string {
  return `${path.slice(0, LONGEST_SHOWN)}${MASK}`;
}
