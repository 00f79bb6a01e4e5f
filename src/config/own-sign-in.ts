import { z } from 'zod';
import { ACCOUNT_ATTEMPTS, REFUSAL_TIME } from './constants.ts';
import { text } from './name.ts';
import { everyLogin } from './recheck.ts';
import { duration, rate } from './units.ts';

/** Settings for logins in which coursegate keeps the sign-in session itself. */
export const ownSignIn = {
  ...everyLogin,
  acrValues: z.array(text).default([]).describe('Authentication levels that a sign-in may have (OpenID Connect acr).'),
  session: duration
    .prefault('30m')
    .describe('How long a sign-in lasts for connecting further apps and for the page of connected apps.'),
};

/** Settings for logins whose credentials are entered on coursegate's own page. */
export const credentialLogin = {
  ...ownSignIn,
  attempts: z
    .strictObject({
      address: rate
        .prefault({ requests: 100, per: '15m' })
        .describe('Sign-ins from one client address (for IPv6: one /64), across all accounts.'),
    })
    .transform((given) => ({
      ...given,
      account: ACCOUNT_ATTEMPTS as typeof given.address,
      refusalTime: REFUSAL_TIME,
    }))
    .prefault({})
    .describe(
      'Limits on sign-in attempts, successful or not. Further ones get 429. One address may try one account 10 times in 15 minutes.',
    ),
};
