import { z } from 'zod';
import { LONG_ENOUGH, secret } from '../../config/secret.ts';
import { pageUrl } from '../../config/urls.ts';
import { ownSignIn } from '../settings.ts';

/** Login by a signed one-time redirect to the backend and back, as in DiscourseConnect. */
export const bridgeLogin = z.strictObject({
  kind: z.literal('bridge'),
  url: pageUrl,
  secret: secret(LONG_ENOUGH),
  ...ownSignIn,
});

export type BridgeLoginConfig = z.output<typeof bridgeLogin>;
