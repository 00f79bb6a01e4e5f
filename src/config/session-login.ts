import { z } from 'zod';
import { isOwnCookie } from '../http/own-cookie.ts';
import { TOKEN, text, upstreamName } from './name.ts';
import { everyLogin } from './recheck.ts';
import { pageUrl } from './urls.ts';
import { whoami } from './whoami.ts';

/** Name of a cookie of the backend; `*` matches any number of characters. */
export const cookiePattern = z
  .string()
  .regex(TOKEN, 'must be a cookie name')
  .refine(
    (given) => /[^*]/.test(given),
    'must be more specific than *: only the session cookie may be sent, not every cookie',
  )
  .refine((given) => !isOwnCookie(given), 'is a cookie of coursegate itself, which is never sent to a backend');

/** Login by the backend's own session cookie: the gate sends it to a URL of the backend that says whose it is. */
export const sessionLogin = z.strictObject({
  kind: z.literal('session'),
  upstream: upstreamName,
  whoami: whoami.describe('Where the backend says whose session a cookie belongs to.'),
  loginUrl: pageUrl.describe('Sign-in page of the site: a path or a URL.'),
  returnParam: text.default('return_to').meta({
    description:
      'Query parameter of the sign-in page for the address to return to: a path if the page is at `origin`, otherwise a URL.',
  }),
  hintParam: text.optional().describe('Query parameter of the sign-in page for the login_hint.'),
  acrValues: z.array(text).default([]).describe('The acr values that `whoami` may return.'),
  cookies: z.array(cookiePattern).min(1).meta({
    description: 'Names of the cookies that are sent to `whoami`; no others are. * matches any number of characters.',
  }),
  ...everyLogin,
});

export type SessionLoginConfig = z.output<typeof sessionLogin>;
