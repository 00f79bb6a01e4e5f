import { buildASTSchema, GraphQLError, type GraphQLSchema, parse, Source, validateSchema } from 'graphql';
import { checkMapping } from './connect/check.ts';
import { type Mapping, type MappingFile, readMapping } from './connect/mapping.ts';
import { Mistakes, placeOf } from './connect/mistakes.ts';
import { attachResolvers } from './connect/resolvers.ts';
import { attachScalars, SCALAR_NAMES } from './scalars.ts';

const CONTRACT = 'account schema';

/**
 * Builds the Account API. In: the contract's SDL, the mapping files, the names of the configured upstreams. Out: the
 * contract as an executable schema, and the mapping its resolvers need in an Operation. No directive of the mapping is
 * in the schema, so none is in introspection. Throws MappingError with every mistake.
 */
export function buildAccountSchema(
  schemaText: string,
  files: readonly MappingFile[],
  upstreams: readonly string[],
): { readonly schema: GraphQLSchema; readonly mapping: Mapping } {
  const mistakes = new Mistakes();
  const schema = buildContract(schemaText, mistakes);
  if (schema === undefined) {
    mistakes.throwIfAny();
    throw new Error('a contract without a schema has mistakes');
  }
  const mapping = readMapping(files, schema, upstreams, mistakes);
  checkMapping(schema, mapping, SCALAR_NAMES, mistakes);
  mistakes.throwIfAny();
  attachScalars(schema);
  attachResolvers(schema, mapping);
  return { schema, mapping };
}

function buildContract(text: string, mistakes: Mistakes): GraphQLSchema | undefined {
  try {
    const schema = buildASTSchema(parse(new Source(text, CONTRACT)));
    for (const error of validateSchema(schema)) {
      mistakes.add(error.nodes?.[0] ? placeOf(error.nodes[0]) : START, CONTRACT, error.message);
    }
    return mistakes.any ? undefined : schema;
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    const { line, column } = (thrown instanceof GraphQLError && thrown.locations?.[0]) || START;
    // buildASTSchema gives all its complaints in one text and no places.
    for (const message of thrown.message.split('\n\n')) {
      mistakes.add({ file: CONTRACT, line, column }, CONTRACT, message);
    }
    return undefined;
  }
}

const START = { file: CONTRACT, line: 1, column: 1 };
