import { z } from 'zod';
import { databaseLogin } from './database-login.ts';
import { directoryLogin } from './directory-login.ts';
import { formLogin } from './form-login.ts';
import { headerLogin } from './header-login.ts';
import { oidcLogin } from './oidc-login.ts';
import { ownSignIn } from './own-sign-in.ts';
import { LONG_ENOUGH, secret } from './secret.ts';
import { sessionLogin } from './session-login.ts';
import { pageUrl } from './urls.ts';
import { webhookLogin } from './webhook-login.ts';

/** Login by a signed one-time redirect to the backend and back, as in DiscourseConnect. */
const bridgeLogin = z.strictObject({
  kind: z.literal('bridge'),
  url: pageUrl.describe('Page of the backend that says who is signed in.'),
  secret: secret(LONG_ENOUGH),
  ...ownSignIn,
});

/** How members sign in, by `kind`. */
export const login = z.discriminatedUnion('kind', [
  sessionLogin,
  bridgeLogin,
  directoryLogin,
  webhookLogin,
  formLogin,
  oidcLogin,
  headerLogin,
  databaseLogin,
]);
