import { PageFailure } from '../pages/page-failure.ts';

/** The gate's own paths, in the only characters that they contain. */
const RETURN_PATH = /^\/oauth\/(?!\/)[A-Za-z0-9_\-/]{1,512}(?:\?[A-Za-z0-9_\-=&%.]{0,512})?$/;

/**
 * Where a sign-in continues. `given` is every `return_to` of the query or form. Throws PageFailure `invalid_request`.
 */
export function parseReturnPath(given: readonly string[]): string {
  const [path] = given;
  if (given.length !== 1 || path === undefined || !RETURN_PATH.test(path))
    throw new PageFailure('invalid_request', 'failure.sign_in_link');
  return path;
}
