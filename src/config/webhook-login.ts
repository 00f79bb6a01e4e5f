import { z } from 'zod';
import { upstreamName } from './name.ts';
import { credentialLogin, refusalTime } from './own-sign-in.ts';
import { secretReference } from './secret-reference.ts';
import { duration } from './units.ts';

/** One URL of the backend that says whose credentials these are. */
export const webhookLogin = z.strictObject({
  kind: z.literal('webhook'),
  upstream: upstreamName,
  path: z
    .string()
    .regex(/^\/[\x21-\x7E]*$/, 'must begin with /')
    .meta({ description: 'Where the credentials are posted, under the URL of the upstream.' }),
  secret: secretReference.meta({ description: 'What the calls are signed with; the backend has it too.' }),
  timeout: duration.prefault('5s').meta({ description: 'For the whole call, at most the timeout of the upstream.' }),
  refusalTime,
  ...credentialLogin,
});

export type WebhookLoginConfig = z.output<typeof webhookLogin>;
