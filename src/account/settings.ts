import { z } from 'zod';
import { ACCOUNT, ACCOUNT_LIMITS } from '../config/constants.ts';
import { text } from '../config/name.ts';
import { secret } from '../config/secret.ts';

const count = (least: number, value: number, description: string) =>
  z.int().min(least).default(value).describe(description);

/** Limits on one operation. The defaults allow the standard introspection query and the queries in the contract. */
const limits = z
  .strictObject({
    cost: count(
      1,
      5000,
      'Objects an operation may request. Each counts 1, multiplied by the page sizes of the lists around it.',
    ),
    upstreamCalls: count(1, 50, 'Calls to upstreams that one operation may make.'),
  })
  .transform((given) => ({ ...given, ...ACCOUNT_LIMITS }));

/** The Account API. */
export const account = z
  .strictObject({
    enabled: z.boolean().default(true).describe('Whether it is served. Set by the profile.'),
    schema: text.describe('Schema that clients see, in GraphQL SDL: a file, or a pattern with *.'),
    mappings: text.describe('Mappings that say where the fields come from: a file, or a pattern with *.'),
    upstreamSchemas: z.record(z.string(), text).optional().meta({
      description: 'Recorded schema of each GraphQL upstream, by its name: a file that `account pull` writes.',
    }),
    config: z
      .record(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and _'),
        z.union([z.string(), z.number(), z.boolean(), secret()]),
      )
      .default({})
      .describe(
        'Values that mappings use as $config.NAME. Those given as { env } or { file } can only be used in calls.',
      ),
    introspection: z.boolean().default(true).describe('Whether clients may query the schema.'),
    documents: z
      .strictObject({
        file: text.describe('JSON file with an object of documents by ID.'),
        only: z.boolean().default(false).describe('Whether all other documents are refused.'),
      })
      .optional()
      .describe('Trusted documents, which clients refer to by documentId instead of sending them.'),
    limits: limits.prefault({}).describe('Limits on one operation.'),
  })
  .transform((given) => ({ ...given, ...ACCOUNT }));
