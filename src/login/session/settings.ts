import { z } from 'zod';
import { cookiePattern, text, upstreamName } from '../../config/name.ts';
import { everyLogin } from '../../config/recheck.ts';
import { siteSignInPage } from '../settings.ts';
import { whoami } from '../whoami/settings.ts';

/** Login by the backend's own session cookie: the gate sends it to a URL of the backend that says whose it is. */
export const sessionLogin = z.strictObject({
  kind: z.literal('session'),
  upstream: upstreamName,
  whoami: whoami.describe('Where the backend says whose session a cookie belongs to.'),
  ...siteSignInPage,
  acrValues: z.array(text).default([]).describe('The acr values that `whoami` may return.'),
  cookies: z.array(cookiePattern).min(1).meta({
    description: 'Names of the cookies that are sent to `whoami`; no others are. * matches any number of characters.',
  }),
  ...everyLogin,
});

export type SessionLoginConfig = z.output<typeof sessionLogin>;
