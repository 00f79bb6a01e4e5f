import { z } from 'zod';
import { cookieName, text } from '../../config/name.ts';
import { everyLogin } from '../../config/recheck.ts';
import { signedToken, siteSignInPage } from '../settings.ts';

/** Login by a cookie of the site that holds a signed token (JWT), which the gate verifies itself. */
export const jwtCookieLogin = z.strictObject({
  kind: z.literal('jwt-cookie'),
  jwt: z.strictObject({
    cookie: cookieName,
    ...signedToken,
  }),
  ...siteSignInPage,
  acrValues: z.array(text).default([]),
  ...everyLogin,
});

export type JwtCookieLoginConfig = z.output<typeof jwtCookieLogin>;
