import type { mergeTypeDefs } from '@graphql-tools/merge';
import {
  buildASTSchema,
  concatAST,
  type DefinitionNode,
  type DocumentNode,
  GraphQLError,
  GraphQLSchema,
  getDirectiveValues,
  Kind,
  parse,
  validateSchema,
  visit,
} from 'graphql';
import { type Mistakes, placeOf } from './connect/mistakes.ts';
import { checkSdl, parseSdl } from './sdl.ts';
import type { TextFile } from './settings-files.ts';

const CONTRACT = 'account schema';

/** The directives that a contract can use besides those of GraphQL. Names and meaning are those in common use. */
export const VOCABULARY = parse(`
  "The scopes a token needs for this field, or for every field of this type: all scopes of at least one of the lists."
  directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT

  "The role that the member needs: one of these, such as admin, or instructor of {args.courseId} with an argument."
  directive @requiresRole(role: [String!]!) on FIELD_DEFINITION

  "What one value of this field adds to the cost of an operation. Defaults to 1 for an object and 0 for a leaf."
  directive @cost(weight: Int!) on FIELD_DEFINITION

  "How many items a list is assumed to have when no argument says so."
  directive @listSize(assumedSize: Int!) on FIELD_DEFINITION
`);
const VOCABULARY_NAMES: ReadonlySet<unknown> = new Set(
  VOCABULARY.definitions.map((node) => ('name' in node ? node.name?.value : undefined)),
);

/** A parsed contract: the schema that clients see, and the same with the vocabulary, which they do not see. */
export type Contract = ReturnType<typeof readContract>;

/** Merges types with their extensions. */
export type MergeTypes = typeof mergeTypeDefs;

/** What merges the types of a contract; undefined, and not loaded, if no type is extended. */
export async function loadTypeMerger(files: readonly TextFile[]): Promise<MergeTypes | undefined> {
  if (!files.some(({ text }) => text.includes('extend'))) return undefined;
  return (await import('@graphql-tools/merge')).mergeTypeDefs;
}

/**
 * Parses the contract's files and merges them. The directives of the vocabulary stay on the AST nodes of their fields
 * but are not part of the schema, so introspection does not show them.
 *
 * @throws {MappingError} with every mistake, those in `mistakes` included
 */
export function readContract(files: readonly TextFile[], mistakes: Mistakes, mergeTypes: MergeTypes | undefined) {
  const document = concatAST(files.flatMap((file) => parseSdl(file, CONTRACT, mistakes) ?? []));
  mistakes.throwIfAny();
  // A file may define the vocabulary for an editor, but those definitions are ignored.
  const given = document.definitions.filter((node) => {
    return node.kind !== Kind.DIRECTIVE_DEFINITION || !VOCABULARY_NAMES.has(node.name.value);
  });
  const definitions = [...VOCABULARY.definitions, ...given];
  checkSdl({ ...document, definitions }, CONTRACT, mistakes);
  mistakes.throwIfAny();
  const vocabulary = buildMerged(definitions, mergeTypes);
  for (const { nodes, message } of validateSchema(vocabulary)) {
    const place = nodes?.[0] ? placeOf(nodes[0]) : { file: files[0]?.file ?? CONTRACT, line: 1, column: 1 };
    mistakes.add(place, CONTRACT, message);
  }
  visit(document, {
    Directive(node) {
      const { value: name } = node.name;
      const definition = VOCABULARY_NAMES.has(name) ? vocabulary.getDirective(name) : undefined;
      try {
        if (definition) getDirectiveValues(definition, { directives: [node] });
      } catch (thrown) {
        if (!(thrown instanceof GraphQLError)) throw thrown;
        mistakes.add(placeOf(node), CONTRACT, thrown.message);
      }
    },
  });
  mistakes.throwIfAny();
  const config = vocabulary.toConfig();
  const directives = config.directives.filter(({ name }) => !VOCABULARY_NAMES.has(name));
  return { schema: new GraphQLSchema({ ...config, directives }), vocabulary };
}

/**
 * Builds the schema of checked definitions, with each type and its extensions in one node, so that a directive applies
 * wherever it is written. Directives are not merged: graphql-tools would drop one that has the name of a type.
 */
function buildMerged(definitions: readonly DefinitionNode[], mergeTypes: MergeTypes | undefined): GraphQLSchema {
  const isDirective = ({ kind }: DefinitionNode) => kind === Kind.DIRECTIVE_DEFINITION;
  const types: DocumentNode = { kind: Kind.DOCUMENT, definitions: definitions.filter((node) => !isDirective(node)) };
  if (mergeTypes === undefined && types.definitions.some(({ kind }) => kind.endsWith('Extension')))
    throw new Error('A contract with extensions needs what merges them: its directives would have no effect.');
  const document = concatAST([
    { kind: Kind.DOCUMENT, definitions: definitions.filter(isDirective) },
    mergeTypes?.(types, { useSchemaDefinition: false }) ?? types,
  ]);
  return buildASTSchema(document, { assumeValidSDL: true });
}
