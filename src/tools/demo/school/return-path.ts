const LONGEST = 2048;
const SITE_PATH = /^\/(?![/\\])[^\p{Cc}]*$/u;

/**
 * Where to go after sign-in: `given` if it is a path of this site, otherwise undefined. A leading double slash or
 * backslash, or control characters that browsers drop, would lead to another site.
 */
export function returnPath(given: unknown): string | undefined {
  return typeof given === 'string' && given.length <= LONGEST && SITE_PATH.test(given) ? given : undefined;
}
