import { z } from 'zod';
import { name } from './name.ts';
import { credentialLogin, refusalTime } from './own-sign-in.ts';
import { secretReference } from './secret-reference.ts';
import { duration } from './units.ts';

/** One URL of the backend that says whose credentials these are. */
export const webhookLogin = z.strictObject({
  kind: z.literal('webhook'),
  upstream: name,
  path: z
    .string()
    .regex(/^\/[\x21-\x7E]*$/, 'must begin with /')
    .meta({ description: 'Where the credentials are posted, under the URL of the upstream.' }),
  secret: secretReference,
  timeout: duration.prefault('5s').meta({ description: 'For the whole call, at most the timeout of the upstream.' }),
  refusalTime,
  ...credentialLogin,
});

export type WebhookLoginConfig = z.output<typeof webhookLogin>;
