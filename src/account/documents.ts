import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { formatError } from './errors.ts';
import { checkLimits } from './limits.ts';
import type { AccountLimits } from './settings.ts';

/** A client's document ready to execute, or the errors with which it is refused. */
export type CheckedDocument =
  | { readonly document: DocumentNode }
  | { readonly document?: never; readonly errors: readonly GraphQLFormattedError[] };

/** Limits of the cache: validation dominates the cost of an operation, and apps repeat the same few documents. */
const KEPT = { characters: 500_000, documents: 200, longest: 8192 };
const MOST_VALIDATION_ERRORS = 5;

export interface DocumentRules {
  readonly limits: AccountLimits;
  /** Whether __schema and __type can be queried. */
  readonly introspection: boolean;
}

/** Parses a document, checks its limits and validates it. */
export type CheckDocument = (source: string) => CheckedDocument;

/** Creates a check that caches the most recent documents, limited by number and by total characters. */
export function documentChecker(schema: GraphQLSchema, rules: DocumentRules): CheckDocument {
  const kept = new LRUCache<string, CheckedDocument>({
    max: KEPT.documents,
    maxSize: KEPT.characters,
    maxEntrySize: KEPT.longest,
    sizeCalculation: (_checked, source) => Math.max(1, source.length),
  });
  return (source) => {
    const known = kept.get(source);
    if (known !== undefined) return known;
    const checked = checkDocument(schema, source, rules);
    kept.set(source, checked);
    return checked;
  };
}

function checkDocument(
  schema: GraphQLSchema,
  source: string,
  { limits, introspection }: DocumentRules,
): CheckedDocument {
  let document: DocumentNode;
  try {
    document = parse(source, { maxTokens: limits.tokens });
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    return { errors: [formatError(thrown, 'GRAPHQL_PARSE_FAILED')] };
  }
  const excess = checkLimits(document, limits);
  if (excess !== undefined) return { errors: [formatError(excess.error, excess.code)] };
  const all = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  const errors = validate(schema, document, all, { maxErrors: MOST_VALIDATION_ERRORS, hideSuggestions: true });
  if (errors.length === 0) return { document };
  return { errors: errors.map((error) => formatError(error, 'GRAPHQL_VALIDATION_FAILED')) };
}
