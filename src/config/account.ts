import { z } from 'zod';
import { secretReference } from './secret-reference.ts';
import { duration, size } from './units.ts';

const count = (least: number, value: number, description: string) =>
  z.int().min(least).default(value).meta({ description });

/** How much one operation may be. The defaults let the standard introspection query and the contract's through. */
const limits = z.strictObject({
  tokens: count(10, 1000, 'Tokens of a document: names, braces, values.'),
  depth: count(1, 12, 'Fields inside one another. Introspection has a limit of its own.'),
  fields: count(1, 400, 'Fields, with all fragments written out.'),
  aliases: count(0, 30, 'Fields given another name.'),
  rootFields: count(1, 10, 'Fields on the first level.'),
  directives: count(0, 50, 'Directives such as @include.'),
  cost: count(1, 5000, 'Objects an operation may ask for: each counts 1, times the length of the lists around it.'),
  pageSize: count(1, 100, 'The most a `first` may ask for.'),
  upstreamCalls: count(1, 50, 'Calls that one operation may make to upstreams.'),
});

/** The Account API. */
export const account = z.strictObject({
  enabled: z.boolean().default(true).meta({ description: 'Set by the profile.' }),
  path: z.literal('/account/graphql').default('/account/graphql').meta({ description: 'Where it is served.' }),
  schema: z.string().min(1).meta({ description: 'The contract as clients see it: a file of GraphQL SDL.' }),
  mappings: z.string().min(1).meta({ description: 'Where the fields come from: a file, or a pattern with *.' }),
  upstreamSchemas: z
    .record(z.string(), z.string().min(1))
    .optional()
    .meta({ description: 'The recorded schema of each GraphQL upstream: a file that `account pull` writes.' }),
  config: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and _'),
      z.union([z.string(), z.number(), z.boolean(), secretReference]),
    )
    .default({})
    .meta({ description: 'What mappings know as $config.name. One that is { env } or { file } goes into calls only.' }),
  bodyLimit: size.prefault('64KiB').meta({ description: 'The largest request body.' }),
  deadline: duration
    .prefault('10s')
    .meta({ description: 'For a whole operation; what has arrived by then is served.' }),
  introspection: z.boolean().default(true).meta({ description: 'Whether clients may ask for the schema.' }),
  documents: z
    .strictObject({
      file: z.string().min(1).meta({ description: 'A JSON object of document ids and documents.' }),
      only: z.boolean().default(false).meta({ description: 'Whether every other document is refused.' }),
    })
    .optional()
    .meta({ description: 'Trusted documents, which clients name by documentId instead of sending them.' }),
  limits: limits.prefault({}).meta({ description: 'How much one operation may be.' }),
});
