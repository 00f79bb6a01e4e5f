import { z } from 'zod';
import { BREAKER_COOLDOWN, UPSTREAM } from '../config/constants.ts';
import { positive, text } from '../config/name.ts';
import { duration } from '../config/units.ts';
import { httpUrl } from '../config/urls.ts';
import { upstreamCredential } from './credentials/settings.ts';
import { upstreamHeaders } from './settings-headers.ts';

/** A service behind the gate. */
export const upstream = z
  .strictObject({
    url: httpUrl,
    timeout: duration.prefault('10s'),
    maxRequests: positive.default(1024),
    breaker: z
      .strictObject({
        failures: z.int().min(0).default(5),
      })
      .transform((given) => ({ ...given, cooldown: BREAKER_COOLDOWN }))
      .prefault({}),
    identity: z.array(z.enum(['headers', 'assertion'])).default(['headers', 'assertion']),
    credential: upstreamCredential.optional(),
    openapi: z.strictObject({ file: text }).optional(),
    ...upstreamHeaders,
  })
  .transform((given) => ({ ...given, ...UPSTREAM }));
