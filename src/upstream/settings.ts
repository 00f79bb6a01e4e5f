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
    url: httpUrl.describe('Base URL. A path in it is prepended to the path of every request.'),
    timeout: duration
      .prefault('10s')
      .describe('Time limit from the end of a request to the head of its response, and between two chunks of it.'),
    maxRequests: positive
      .default(1024)
      .describe('Requests in progress at the same time, each on its own connection. Further ones get 503.'),
    breaker: z
      .strictObject({
        failures: z.int().min(0).default(5).meta({
          description: 'Consecutive requests without a response that open the breaker. 0 turns it off.',
        }),
      })
      .transform((given) => ({ ...given, cooldown: BREAKER_COOLDOWN }))
      .prefault({})
      .describe('Circuit breaker: stops sending requests for a while when the upstream does not respond.'),
    identity: z
      .array(z.enum(['headers', 'assertion']))
      .default(['headers', 'assertion'])
      .describe(
        'How the upstream learns who the member is: `headers` (X-Member-Id …), `assertion` (a signed JWT in X-Coursegate-Assertion), both, or [] for neither.',
      ),
    credential: upstreamCredential.optional().meta({
      description:
        'For a backend that cannot be changed to read `identity`: a credential it already accepts. One of the member’s session, a token for the member, or a key.',
    }),
    openapi: z
      .strictObject({ file: text.describe('A JSON or YAML file, read again whenever it changes.') })
      .optional()
      .describe(
        'The upstream’s own OpenAPI document (3.0 or 3.1). The operations that routes expose are copied from it into /openapi.json.',
      ),
    ...upstreamHeaders,
  })
  .transform((given) => ({ ...given, ...UPSTREAM }));
