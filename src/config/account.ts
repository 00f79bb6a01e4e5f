import { z } from 'zod';
import { secretReference } from './secret-reference.ts';
import { duration, size } from './units.ts';

const count = (least: number, value: number, description: string) =>
  z.int().min(least).default(value).meta({ description });

/** Limits on one operation. The defaults allow the standard introspection query and the queries in the contract. */
const limits = z.strictObject({
  tokens: count(10, 1000, 'Tokens in a document: names, braces, values.'),
  depth: count(1, 12, 'Depth of nested fields. Introspection has a separate limit.'),
  fields: count(1, 400, 'Fields, with all fragments expanded.'),
  aliases: count(0, 30, 'Field aliases.'),
  rootFields: count(1, 10, 'Fields at the top level.'),
  directives: count(0, 50, 'Directives such as @include.'),
  cost: count(
    1,
    5000,
    'Objects an operation may request. Each counts 1, multiplied by the page sizes of the lists around it.',
  ),
  pageSize: count(1, 100, 'Largest value of `first`.'),
  upstreamCalls: count(1, 50, 'Calls to upstreams that one operation may make.'),
});

/** The Account API. */
export const account = z.strictObject({
  enabled: z.boolean().default(true).meta({ description: 'Whether it is served. Set by the profile.' }),
  path: z.literal('/account/graphql').default('/account/graphql').meta({ description: 'Path it is served at.' }),
  schema: z
    .string()
    .min(1)
    .meta({ description: 'Schema that clients see, in GraphQL SDL: a file, or a pattern with *.' }),
  mappings: z
    .string()
    .min(1)
    .meta({ description: 'Mappings that say where the fields come from: a file, or a pattern with *.' }),
  upstreamSchemas: z
    .record(z.string(), z.string().min(1))
    .optional()
    .meta({ description: 'Recorded schema of each GraphQL upstream, by its name: a file that `account pull` writes.' }),
  config: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and _'),
      z.union([z.string(), z.number(), z.boolean(), secretReference]),
    )
    .default({})
    .meta({
      description:
        'Values that mappings use as $config.NAME. Those given as { env } or { file } can only be used in calls.',
    }),
  bodyLimit: size.prefault('64KiB').meta({ description: 'Largest request body.' }),
  deadline: duration
    .prefault('10s')
    .meta({ description: 'Time limit for an operation. Whatever has arrived by then is returned.' }),
  introspection: z.boolean().default(true).meta({ description: 'Whether clients may query the schema.' }),
  documents: z
    .strictObject({
      file: z.string().min(1).meta({ description: 'JSON file with an object of documents by ID.' }),
      only: z.boolean().default(false).meta({ description: 'Whether all other documents are refused.' }),
    })
    .optional()
    .meta({ description: 'Trusted documents, which clients refer to by documentId instead of sending them.' }),
  limits: limits.prefault({}).meta({ description: 'Limits on one operation.' }),
});
