import { z } from 'zod';
import { mayBeSent } from '../http/header-names.ts';

const fieldName = z.string().regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'must be the name of a header field');

const sentName = fieldName.refine(
  mayBeSent,
  'is a field that no client may send to an upstream: a credential, an identity, or about the connection',
);

/** How one upstream is spoken to and of, beyond what the header policy does for all. */
export const upstreamHeaders = {
  host: z.enum(['public', 'upstream']).optional().meta({
    description:
      'What Host says to it: the name in `origin`, as a site expects that makes links and redirects of it, or the name in `url`. Left out: public for http, upstream for https.',
  }),
  aliases: z
    .array(z.string().regex(/^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?$/, 'must be a host, or host:port'))
    .default([])
    .meta({ description: 'Other hosts by which it calls itself in redirects and links, which are made ours.' }),
  headers: z
    .strictObject({
      request: z
        .strictObject({
          allow: z.array(sentName).default([]).meta({
            description: 'Fields that apps may send it on protected routes, besides those that are commonly used.',
          }),
          drop: z.array(fieldName).default([]).meta({
            description: 'Fields that nobody may send it, on routes and on the site.',
          }),
        })
        .prefault({})
        .meta({ description: 'Of requests.' }),
      response: z
        .strictObject({
          drop: z.array(fieldName).default([]).meta({ description: 'Fields of its answers that nobody is to see.' }),
        })
        .prefault({})
        .meta({ description: 'Of answers.' }),
    })
    .prefault({})
    .meta({ description: 'Header fields, by name in any case, that pass or do not besides the rules for all.' }),
};
