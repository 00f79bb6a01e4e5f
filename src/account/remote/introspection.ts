import {
  buildClientSchema,
  GraphQLError,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';
import { boundedJson, DOCUMENT_BOUNDS } from '../../http/bounded-json.ts';
import type { CallUpstream } from '../../upstream/request.ts';

/** The path and headers for operations of a GraphQL upstream. */
export interface GraphqlSource {
  readonly upstream: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A schema cannot be read. The message is for the operator. */
class IntrospectionError extends Error {}

/** From newest to oldest: a server refuses the whole query if it does not know one of its fields. */
const QUERIES = [
  getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true, oneOf: true }),
  getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true }),
  getIntrospectionQuery(),
];

/**
 * Reads an upstream's schema by introspection, without a member.
 *
 * @throws {GatewayError} when the upstream is unavailable
 * @throws {IntrospectionError} when it does not return a schema
 */
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
    const answer = boundedJson(body, DOCUMENT_BOUNDS) as Answer | null | undefined;
    if (answer?.data?.__schema !== undefined) return schemaOf(answer.data as IntrospectionQuery, upstream);
    refusal = `status ${status}${answer?.errors?.[0]?.message === undefined ? '' : `: ${answer.errors[0].message}`}`;
  }
  throw new IntrospectionError(`${upstream} does not return its schema (${refusal.slice(0, 300)}).`);
}

interface Answer {
  readonly data?: { readonly __schema?: unknown };
  readonly errors?: readonly { readonly message?: string }[];
}

function schemaOf(answer: IntrospectionQuery, upstream: string): GraphQLSchema {
  try {
    return buildClientSchema(answer);
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown instanceof GraphQLError) throw thrown;
    throw new IntrospectionError(`${upstream} returned an invalid schema: ${thrown.message.slice(0, 300)}`);
  }
}

/** Formats a schema for recording. Equal schemas always give the same text. */
export function recordedText(schema: GraphQLSchema): string {
  return `# Recorded by \`coursegate account pull\`. Do not edit.\n${printSchema(lexicographicSortSchema(schema))}\n`;
}
