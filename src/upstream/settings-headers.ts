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
  host: z.enum(['public', 'upstream']).optional(),
  aliases: z
    .array(z.string().regex(/^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/, 'must be a host, or host:port'))
    .default([]),
  headers: z
    .strictObject({
      request: z
        .strictObject({
          allow: z.array(sentName).default([]),
          drop: z.array(fieldName).default([]),
        })
        .prefault({}),
      response: z
        .strictObject({
          drop: z.array(fieldName).default([]),
        })
        .prefault({}),
    })
    .prefault({}),
};
