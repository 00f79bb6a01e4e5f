import { z } from 'zod';
import { cookiePattern, name, text } from '../../config/name.ts';
import { everyLogin } from '../../config/recheck.ts';
import { siteSignInPage } from '../settings.ts';
import { whoami } from '../whoami/settings.ts';

/** Login by the backend's own session cookie: the gate sends it to a URL of the backend that says whose it is. */
export const sessionLogin = z.strictObject({
  kind: z.literal('session'),
  upstream: name,
  whoami: whoami,
  ...siteSignInPage,
  acrValues: z.array(text).default([]),
  cookies: z.array(cookiePattern).min(1),
  ...everyLogin,
});

export type SessionLoginConfig = z.output<typeof sessionLogin>;
