/** Segments of this length that contain a digit may be secrets, such as a token or a password reset link. */
const LONG = 20;
const LONGEST_SHOWN = 512;
const MASK = '***';

/**
 * Makes a path (without query) safe to log: replaces every segment that could be a secret by `***`, and cuts very long
 * paths. Words and short ids (`/courses/42`) stay.
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
