import {
  buildClientSchema,
  GraphQLError,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import type { CallUpstream } from '../../upstream/request.ts';

/** Where a GraphQL upstream takes operations, and what its calls carry. */
export interface GraphqlSource {
  readonly upstream: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What keeps a schema from being read, in words for an operator. */
class IntrospectionError extends Error {}

/** Servers refuse the whole query for one field they do not know, so an older one is asked for less. */
const QUERIES = [
  getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true, oneOf: true }),
  getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true }),
  getIntrospectionQuery(),
];

/** Asks an upstream for its schema, as nobody in particular. Throws GatewayError, and IntrospectionError. */
export async function introspect(
  call: CallUpstream,
  { upstream, path, headers }: GraphqlSource,
): Promise<GraphQLSchema> {
  let refusal = '';
  for (const query of QUERIES) {
    const { status, body } = await call({
      upstream,
      method: 'POST',
      path,
      headers: { ...headers, accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify({ query, operationName: 'IntrospectionQuery' }),
    });
    const answer = parsed(body);
    if (answer?.data?.__schema !== undefined) return schemaOf(answer.data as IntrospectionQuery, upstream);
    refusal = `status ${status}${answer?.errors?.[0]?.message === undefined ? '' : `: ${answer.errors[0].message}`}`;
  }
  throw new IntrospectionError(`${upstream} does not tell its schema (${refusal.slice(0, 300)}).`);
}

interface Answer {
  readonly data?: { readonly __schema?: unknown };
  readonly errors?: readonly { readonly message?: string }[];
}

function parsed(body: string): Answer | null {
  try {
    return JSON.parse(body) as Answer | null;
  } catch {
    return null;
  }
}

function schemaOf(answer: IntrospectionQuery, upstream: string): GraphQLSchema {
  try {
    return buildClientSchema(answer);
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown instanceof GraphQLError) throw thrown;
    throw new IntrospectionError(`${upstream} tells a schema that is none: ${thrown.message.slice(0, 300)}`);
  }
}

/** A schema as it is recorded: the same schema is always the same text. */
export function recordedText(schema: GraphQLSchema): string {
  return `# Recorded by \`coursegate account pull\`. Do not edit.\n${printSchema(lexicographicSortSchema(schema))}\n`;
}
