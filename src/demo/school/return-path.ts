const LONGEST = 2048;
const SITE_PATH = /^\/(?![/\\])[^\p{Cc}]*$/u;

/**
 * Where to go after sign-in. In: what the browser sent. Out: the same when it is a path of this site, else undefined.
 * A second slash or a backslash in front, or control characters browsers drop, would lead to another site.
 */
export function returnPath(given: unknown): string | undefined {
  return typeof given === 'string' && given.length <= LONGEST && SITE_PATH.test(given) ? given : undefined;
}
