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
  acrValues: z.array(text).default([]),
  session: duration.prefault('30m'),
};

/** Settings for logins whose credentials are entered on coursegate's own page. */
export const credentialLogin = {
  ...ownSignIn,
  attempts: z
    .strictObject({
      address: rate.prefault({ requests: 100, per: '15m' }),
    })
    .transform((given) => ({
      ...given,
      account: ACCOUNT_ATTEMPTS as typeof given.address,
      refusalTime: REFUSAL_TIME,
    }))
    .prefault({}),
};

/** Settings for logins in which members sign in on the page of their site. */
export const siteSignInPage = {
  loginUrl: pageUrl,
  returnParam: text.default('return_to'),
  hintParam: text.optional(),
};
export type SiteSignInPage = z.output<z.ZodObject<typeof siteSignInPage>>;

/** Settings for a signed token (JWT, RFC 7519) that says who is signed in. */
export const signedToken = {
  jwks: secureUrl,
  issuer: text,
  audience: text,
  claims: z
    .strictObject({
      subject: text.default('sub'),
      ...eachDetail((_, { claim, noun }) => text.default(claim).describe(`Claim with the ${noun}.`)),
    })
    .prefault({}),
};

export type SignedTokenConfig = z.output<z.ZodObject<typeof signedToken>>;
