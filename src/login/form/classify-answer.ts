import { compilePattern } from '../../config/pattern.ts';
import { namePattern } from '../../http/cookie-names.ts';
import type { UpstreamResponse } from '../../upstream/request.ts';
import { jsonOrNothing, valueIn } from '../whoami/json-answer.ts';
import { unusable } from '../whoami/unusable.ts';
import { cookiesSet } from './cookie-jar.ts';
import { findLoginForm } from './login-page.ts';
import type { FormLoginConfig } from './settings.ts';

/** `undecided`: no sign of failure, so whoami decides. */
export type AnswerClass = 'success' | 'undecided' | 'wrong' | 'locked out';

/**
 * Creates the function that interprets the response to credentials. It throws GatewayError `login_unavailable` for a
 * response that is neither success nor failure: an error page, a maintenance page or a proxy's page does not mean a
 * wrong password.
 */
export function answerClassifier(
  { success, failure, lockedOut, fields }: Pick<FormLoginConfig, 'success' | 'failure' | 'lockedOut' | 'fields'>,
  clock: () => number,
): (answer: UpstreamResponse) => AnswerClass {
  const pattern = (source: string | undefined) => (source === undefined ? undefined : compilePattern(source));
  const [location, notLocation] = [pattern(success?.location), pattern(success?.notLocation)];
  const [wrongBody, locked] = [pattern(failure.body), pattern(lockedOut.body)];
  const isCookie = success?.cookie === undefined ? undefined : namePattern(success.cookie);

  const isFormAgain = (page: string) =>
    findLoginForm(page, { passwordField: fields.password, isAction: () => true }) !== undefined;

  const succeeds = (answer: UpstreamResponse, to: string | undefined): boolean => {
    if (success === undefined) return false;
    const rules = [
      success.status === undefined || success.status.includes(answer.status),
      location === undefined || (to !== undefined && location.matches(to)),
      notLocation === undefined || (to !== undefined && !notLocation.matches(to)),
      isCookie === undefined || cookiesSet(answer, clock).some(isCookie),
      success.pointer === undefined || isSomething(valueIn(jsonOrNothing(answer.body), success.pointer)),
    ];
    return answer.status < 400 && rules.every((holds) => holds);
  };

  return (answer) => {
    const { status, body, headers } = answer;
    const to = status >= 300 && status < 400 ? (headers.location ?? '') : undefined;
    const isLockedOut =
      lockedOut.status.includes(status) ||
      locked?.matches(body) === true ||
      (to !== undefined && locked?.matches(to) === true);
    if (isLockedOut) return 'locked out';
    if (succeeds(answer, to)) return 'success';
    if (!failure.status.includes(status)) throw unusable(`${status} to the credentials`);
    // If whoami decides, any redirect will do.
    if (success === undefined && status < 400 && wrongBody?.matches(body) !== true) return 'undecided';
    if (wrongBody !== undefined) {
      if (wrongBody.matches(body)) return 'wrong';
      throw unusable(`${status} to the credentials, without failure.body in it`);
    }
    if (status === 200 && jsonOrNothing(body) === undefined && !isFormAgain(body))
      throw unusable('the credentials with a page that is not the sign-in form');
    return 'wrong';
  };
}

function isSomething(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}
