import { z } from 'zod';
import { TOKEN } from '../config/name.ts';
import { mayBeSent } from '../http/header-names.ts';

const fieldName = z.string().regex(TOKEN, 'must be the name of a header field');

const sentName = fieldName.refine(
  mayBeSent,
  'is a header that clients may never send to an upstream: a credential, an identity, or about the connection',
);

/** Host and header settings of one upstream, on top of the header policy that applies to all. */
export const upstreamHeaders = {
  host: z.enum(['public', 'upstream']).optional().meta({
    description:
      'Host header it gets: `public` (the host of `origin`, for sites that build links and redirects from it) or `upstream` (the host of `url`). Defaults to `public` for http and `upstream` for https.',
  }),
  aliases: z
    .array(z.string().regex(/^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/, 'must be a host, or host:port'))
    .default([])
    .describe('Other hosts that it uses for itself in redirects and links. They are rewritten to `origin`.'),
  headers: z
    .strictObject({
      request: z
        .strictObject({
          allow: z.array(sentName).default([]).meta({
            description: 'Further headers that apps may send it on protected routes, besides the common ones.',
          }),
          drop: z.array(fieldName).default([]).meta({
            description: 'Headers removed from requests to it, on routes and on the site.',
          }),
        })
        .prefault({})
        .describe('Request headers.'),
      response: z
        .strictObject({
          drop: z.array(fieldName).default([]).describe('Headers removed from its responses.'),
        })
        .prefault({})
        .describe('Response headers.'),
    })
    .prefault({})
    .describe('Headers to pass or remove in addition to the general rules. Names are case-insensitive.'),
};
