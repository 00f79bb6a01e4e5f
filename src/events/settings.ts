import { z } from 'zod';
import { EVENTS } from '../config/constants.ts';
import { name } from '../config/name.ts';
import { secret } from '../config/secret.ts';

/** The key in a secret in the form of Standard Webhooks, with or without its prefix. */
export function eventKey(value: string): Buffer {
  return Buffer.from(value.replace(PREFIX, ''), 'base64');
}

const PREFIX = /^whsec_/;

function keyProblem(value: string): string | undefined {
  const key = eventKey(value);
  const bare = (text: string) => text.replace(PREFIX, '').replace(/=+$/, '');
  // Node ignores characters that are not Base64. The backend might not, and would then use another key.
  if (bare(key.toString('base64')) === bare(value) && key.length >= 24 && key.length <= 64) return undefined;
  return 'must be whsec_ followed by 24 to 64 bytes in Base64 (echo "whsec_$(openssl rand -base64 32)")';
}

/** Events sent to the backend as webhooks, signed as specified by Standard Webhooks. */
export const events = z
  .strictObject({
    upstream: name,
    path: z
      .string()
      .regex(/^\/[\x21-\x7E]*$/, 'must be a path such as /coursegate/events')
      .refine((path) => !/[#\\]/.test(path), 'must not contain # or \\'),
    secret: secret(keyProblem),
    previous: secret(keyProblem).optional(),
  })
  .transform((given) => ({ ...given, ...EVENTS }));

export type EventsConfig = z.output<typeof events>;
