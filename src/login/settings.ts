// Settings that several ways to sign in have.

import { z } from 'zod';
import { ACCOUNT_ATTEMPTS, REFUSAL_TIME } from '../config/constants.ts';
import { text } from '../config/name.ts';
import { everyLogin } from '../config/recheck.ts';
import { duration, rate } from '../config/units.ts';
import { pageUrl, secureUrl } from '../config/urls.ts';
import { eachDetail } from '../oauth/member-details.ts';

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

/** Settings for logins in which members sign in on the page of their site. */
export const siteSignInPage = {
  loginUrl: pageUrl.describe('Sign-in page of the site: a path or a URL.'),
  returnParam: text.default('return_to').meta({
    description:
      'Query parameter of the sign-in page for the address to return to: a path if the page is at `origin`, otherwise a URL.',
  }),
  hintParam: text.optional().describe('Query parameter of the sign-in page for the login_hint.'),
};

/** Settings for a signed token (JWT, RFC 7519) that says who is signed in. */
export const signedToken = {
  jwks: secureUrl.describe('URL of the keys that sign it (JWK Set, RFC 7517).'),
  issuer: text.describe('Required `iss` of the token.'),
  audience: text.describe(
    'Required `aud` of the token, possibly among others. Use the one for this application, not one that other applications accept, too.',
  ),
  claims: z
    .strictObject({
      subject: text.default('sub').describe('Claim with the ID.'),
      ...eachDetail((_, { claim, noun }) => text.default(claim).describe(`Claim with the ${noun}.`)),
    })
    .prefault({})
    .describe('Claims with the member’s ID in the backend, and with what else it says about the member.'),
};

export type SignedTokenConfig = z.output<z.ZodObject<typeof signedToken>>;
