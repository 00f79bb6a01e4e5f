import { AUTHORIZATION } from './authorization.ts';
import { type Cause, type Stopped, says, sent } from './cause.ts';
import { DISCOVERY } from './discovery.ts';
import { REGISTRATION } from './registration.ts';
import { SIGN_IN } from './sign-in.ts';
import { TOKEN } from './token.ts';
import { USE } from './use.ts';

const LIMITED: Cause = {
  id: 'rate-limit',
  fits: ({ at }) => at.status === 429 && at.kind !== 'registration',
  values: ({ at }) => ({ description: at.description ?? 'too many requests' }),
};

const FAILED: Cause = {
  id: 'gate-failed',
  fits: ({ at }) => at.status >= 500 && at.kind !== 'sign-in',
  values: ({ at }) => ({ description: at.description ?? 'the store or the backend did not answer' }),
};

/** What is said if no known cause fits. */
export const UNKNOWN: Cause = {
  id: 'unknown',
  values: ({ at }) => ({ said: at.error === undefined ? '' : ` ${at.error}: ${at.description ?? ''}` }),
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
  return CAUSES.find((cause) => isCause(cause, stopped)) ?? UNKNOWN;
}

function isCause({ kind, error, outcome, says: words, lacks, fits }: Cause, stopped: Stopped): boolean {
  const { at } = stopped;
  return (
    isOneOf(kind, at.kind) &&
    isOneOf(error, at.error) &&
    isOneOf(outcome, at.outcome) &&
    (words === undefined || [words].flat().some((text) => says(stopped, text))) &&
    (lacks === undefined || sent(stopped, lacks) === '') &&
    (fits === undefined || fits(stopped))
  );
}

function isOneOf(allowed: string | readonly string[] | undefined, value: string | undefined): boolean {
  return allowed === undefined || (value !== undefined && [allowed].flat().includes(value));
}
