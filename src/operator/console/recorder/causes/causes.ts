import { AUTHORIZATION } from './authorization.ts';
import type { Cause, Stopped } from './cause.ts';
import { DISCOVERY } from './discovery.ts';
import { REGISTRATION } from './registration.ts';
import { SIGN_IN } from './sign-in.ts';
import { TOKEN } from './token.ts';
import { USE } from './use.ts';

const LIMITED: Cause = {
  id: 'rate-limit',
  fits: ({ at }) => at.status === 429 && at.kind !== 'registration',
  title: 'The app sent too many requests',
  why: ({ at }) => `The gate answered 429: ${at.description ?? 'too many requests'}.`,
  operator:
    'If every app is affected, the gate sees one address for all of them: name your proxy in `listen.trustedProxies`.',
  developer: 'Wait as long as Retry-After says.',
  docs: 'docs/limits.md#how-many-requests-are-allowed',
};

const FAILED: Cause = {
  id: 'gate-failed',
  fits: ({ at }) => at.status >= 500 && at.kind !== 'sign-in',
  title: 'The gate could not answer',
  why: ({ at }) =>
    `The gate answered ${at.status}: ${at.description ?? 'the store or the backend did not answer'}. The log says why.`,
  operator: 'See the health on the first page of this console, and the log.',
  docs: 'docs/troubleshooting.md#502-503-504',
};

const UNKNOWN: Cause = {
  id: 'unknown',
  fits: () => true,
  title: 'The cause is not known',
  why: ({ at }) =>
    `The console does not know this pattern. The last answer was ${at.status}${at.error === undefined ? '' : ` ${at.error}: ${at.description ?? ''}`} to ${at.endpoint}.`,
  developer: 'Compare the steps below with the documentation for client developers.',
  docs: 'docs/clients.md',
};

/** Known causes. The first that fits is shown: those that say most come first. */
export const CAUSES: readonly Cause[] = [
  LIMITED,
  FAILED,
  ...REGISTRATION,
  ...AUTHORIZATION,
  ...DISCOVERY,
  ...SIGN_IN,
  ...TOKEN,
  ...USE,
];

/** Why an attempt stopped. */
export function causeOf(stopped: Stopped): Cause {
  return CAUSES.find(({ fits }) => fits(stopped)) ?? UNKNOWN;
}
