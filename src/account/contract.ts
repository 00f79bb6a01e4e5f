import {
  buildASTSchema,
  concatAST,
  GraphQLError,
  GraphQLSchema,
  getDirectiveValues,
  Kind,
  parse,
  Source,
  validateSchema,
  visit,
} from 'graphql';
import { type Mistakes, placeOf } from './connect/mistakes.ts';

const CONTRACT = 'account schema';
const START = { file: CONTRACT, line: 1, column: 1 };

/** The directives that a contract can use besides those of GraphQL. Names and meaning are those in common use. */
export const VOCABULARY = parse(`
  "The scopes a token needs for this field, or for every field of this type: all scopes of at least one of the lists."
  directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT

  "What one value of this field adds to the cost of an operation. Defaults to 1 for an object and 0 for a leaf."
  directive @cost(weight: Int!) on FIELD_DEFINITION

  "How many items a list is assumed to have when no argument says so."
  directive @listSize(assumedSize: Int!) on FIELD_DEFINITION
`);
const OWN: ReadonlySet<string> = new Set(
  VOCABULARY.definitions.flatMap((node) => (node.kind === Kind.DIRECTIVE_DEFINITION ? [node.name.value] : [])),
);

/** A parsed contract: the schema that clients see, and the definitions of the directives that they do not. */
export interface Contract {
  readonly schema: GraphQLSchema;
  readonly vocabulary: GraphQLSchema;
}

/**
 * Parses the contract's SDL. Returns undefined after adding to `mistakes` when it is invalid. The directives of the
 * vocabulary stay on the AST nodes of their fields but are not part of the schema, so introspection does not show them.
 */
export function readContract(text: string, mistakes: Mistakes): Contract | undefined {
  try {
    const written = parse(new Source(text, CONTRACT));
    // A file may define them for an editor, but those definitions are ignored.
    const definitions = written.definitions.filter((node) => {
      return node.kind !== Kind.DIRECTIVE_DEFINITION || !OWN.has(node.name.value);
    });
    const vocabulary = buildASTSchema(concatAST([VOCABULARY, { ...written, definitions }]));
    for (const error of validateSchema(vocabulary)) {
      mistakes.add(error.nodes?.[0] ? placeOf(error.nodes[0]) : START, CONTRACT, error.message);
    }
    visit(written, {
      Directive(node) {
        const definition = OWN.has(node.name.value) ? vocabulary.getDirective(node.name.value) : undefined;
        if (definition) checkArguments(() => getDirectiveValues(definition, { directives: [node] }), node, mistakes);
      },
    });
    if (mistakes.any) return undefined;
    const config = vocabulary.toConfig();
    const directives = config.directives.filter(({ name }) => !OWN.has(name));
    return { schema: new GraphQLSchema({ ...config, directives }), vocabulary };
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    const { line, column } = (thrown instanceof GraphQLError && thrown.locations?.[0]) || START;
    // buildASTSchema reports all errors in one message, without locations.
    for (const message of thrown.message.split('\n\n')) {
      mistakes.add({ file: CONTRACT, line, column }, CONTRACT, message);
    }
    return undefined;
  }
}

/** Reports an argument's invalid value, for which graphql-js throws. */
function checkArguments(read: () => unknown, node: Parameters<typeof placeOf>[0], mistakes: Mistakes): void {
  try {
    read();
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    mistakes.add(placeOf(node), CONTRACT, thrown.message);
  }
}
