import { z } from 'zod';
import { name } from '../../config/name.ts';
import { LONG_ENOUGH, secret } from '../../config/secret.ts';
import { duration } from '../../config/units.ts';
import { backendPath } from '../../config/urls.ts';
import { credentialLogin } from '../settings.ts';

/** Login by a webhook: the gate posts the credentials to one URL of the backend, which says whose they are. */
export const webhookLogin = z.strictObject({
  kind: z.literal('webhook'),
  upstream: name,
  path: backendPath,
  secret: secret(LONG_ENOUGH),
  timeout: duration.prefault('5s'),
  ...credentialLogin,
});

export type WebhookLoginConfig = z.output<typeof webhookLogin>;
