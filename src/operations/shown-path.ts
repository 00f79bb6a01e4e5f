/** Segments of this length that contain a digit may be secrets, such as a token or a password reset link. */
const LONG = 20;
const LONG_SEGMENT = new RegExp(`[^/]{${LONG}}`);
const LONGEST_SHOWN = 512;
const MASK = '***';

/**
 * Makes a path (without query) safe to log: replaces every segment that could be a secret by `***`, and cuts very long
 * paths. Words and short ids (`/courses/42`) stay.
 */
export function shownPath(path: string): string {
  const shown = LONG_SEGMENT.test(path) ? masked(path) : path;
  return shown.length > LONGEST_SHOWN ? `${shown.slice(0, LONGEST_SHOWN)}${MASK}` : shown;
}

function masked(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.length >= LONG && /\d|[a-z][A-Z]|^\S{64}/.test(segment) ? MASK : segment))
    .join('/');
}
