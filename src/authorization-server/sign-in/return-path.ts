import { PageFailure } from '../pages/page-failure.ts';

/** A page of ours that a sign-in may go on at: our own paths, in the letters that we write them in. */
const RETURN_PATH = /^\/oauth\/(?!\/)[A-Za-z0-9_\-/]{1,512}(?:\?[A-Za-z0-9_\-=&%.]{0,512})?$/;

/** Where a sign-in goes on. In: what the address or the form says. Throws GatewayError `invalid_request`, for a person. */
export function parseReturnPath(given: readonly string[]): string {
  const [path] = given;
  if (given.length !== 1 || path === undefined || !RETURN_PATH.test(path)) {
    throw new PageFailure('invalid_request', 'failure.sign_in_link');
  }
  return path;
}
