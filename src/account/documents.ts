import {
  type DocumentNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { formatError } from './errors.ts';
import { checkLimits, MOST_TOKENS } from './limits.ts';

/** A client's document: ready to execute, or the errors that refuse it. */
export type Checked =
  | { readonly document: DocumentNode }
  | { readonly document?: never; readonly errors: readonly GraphQLFormattedError[] };

/** Validation is most of what an operation costs, and apps send the same few documents again and again. */
const KEPT = { characters: 500_000, documents: 200, longest: 8192 };
const MOST_VALIDATION_ERRORS = 5;

/** Out: parses, limits and validates a document; the latest are kept, bounded by characters and by number. */
export function documentChecker(schema: GraphQLSchema): (source: string) => Checked {
  const kept = new LRUCache<string, Checked>({
    max: KEPT.documents,
    maxSize: KEPT.characters,
    maxEntrySize: KEPT.longest,
    sizeCalculation: (_checked, source) => Math.max(1, source.length),
  });
  return (source) => {
    const known = kept.get(source);
    if (known !== undefined) return known;
    const checked = check(schema, source);
    kept.set(source, checked);
    return checked;
  };
}

function check(schema: GraphQLSchema, source: string): Checked {
  let document: DocumentNode;
  try {
    document = parse(source, { maxTokens: MOST_TOKENS });
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    return { errors: [formatError(thrown, 'GRAPHQL_PARSE_FAILED')] };
  }
  const tooMuch = checkLimits(document);
  const errors =
    tooMuch !== undefined
      ? [tooMuch]
      : validate(schema, document, specifiedRules, { maxErrors: MOST_VALIDATION_ERRORS, hideSuggestions: true });
  if (errors.length === 0) return { document };
  return { errors: errors.map((error) => formatError(error, 'GRAPHQL_VALIDATION_FAILED')) };
}
