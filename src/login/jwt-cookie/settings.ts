import { z } from 'zod';
import { cookieName, text } from '../../config/name.ts';
import { everyLogin } from '../../config/recheck.ts';
import { signedToken, siteSignInPage } from '../settings.ts';

/** Login by a cookie of the site that holds a signed token (JWT), which the gate verifies itself. */
export const jwtCookieLogin = z.strictObject({
  kind: z.literal('jwt-cookie'),
  jwt: z
    .strictObject({
      cookie: cookieName.describe('Name of the cookie with the token.'),
      ...signedToken,
    })
    .describe('Signed token (JWT) in a cookie of the site. The gate verifies it and does not ask the site.'),
  ...siteSignInPage,
  acrValues: z.array(text).default([]).describe('The acr values that a token may contain.'),
  ...everyLogin,
});

export type JwtCookieLoginConfig = z.output<typeof jwtCookieLogin>;
