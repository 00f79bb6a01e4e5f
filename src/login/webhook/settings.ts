import { z } from 'zod';
import { upstreamName } from '../../config/name.ts';
import { LONG_ENOUGH, secret } from '../../config/secret.ts';
import { duration } from '../../config/units.ts';
import { backendPath } from '../../config/urls.ts';
import { credentialLogin } from '../settings.ts';

/** Login by a webhook: the gate posts the credentials to one URL of the backend, which says whose they are. */
export const webhookLogin = z.strictObject({
  kind: z.literal('webhook'),
  upstream: upstreamName,
  path: backendPath.describe('Path that credentials are posted to, relative to the URL of the upstream.'),
  secret: secret(LONG_ENOUGH, 'Secret shared with the backend that signs the calls.'),
  timeout: duration.prefault('5s').describe('Time limit for the whole call, at most the `timeout` of the upstream.'),
  ...credentialLogin,
});

export type WebhookLoginConfig = z.output<typeof webhookLogin>;
