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

/** What a contract may say about its fields besides what GraphQL has; names and meaning are the field's own. */
export const VOCABULARY = parse(`
  "The scopes a token needs for this field, or for every field of this type: one of the lists, and all of its scopes."
  directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT

  "What one value of this field counts in the cost of an operation. Without it: 1 for an object, 0 for a leaf."
  directive @cost(weight: Int!) on FIELD_DEFINITION

  "How many items a list is taken to have when no argument says it."
  directive @listSize(assumedSize: Int!) on FIELD_DEFINITION
`);
const OWN: ReadonlySet<string> = new Set(
  VOCABULARY.definitions.flatMap((node) => (node.kind === Kind.DIRECTIVE_DEFINITION ? [node.name.value] : [])),
);

/** A contract as read: the schema clients see, and the definitions of the directives that they do not. */
export interface Contract {
  readonly schema: GraphQLSchema;
  readonly vocabulary: GraphQLSchema;
}

/**
 * Reads the contract's SDL. Out: undefined when something is wrong with it, which is then in `mistakes`. The directives
 * of the vocabulary stay with the fields they were written on and are not in the schema, so none is in introspection.
 */
export function readContract(text: string, mistakes: Mistakes): Contract | undefined {
  try {
    const written = parse(new Source(text, CONTRACT));
    // A file may define them for an editor's sake; what they mean is fixed here.
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
    // buildASTSchema gives all its complaints in one text and no places.
    for (const message of thrown.message.split('\n\n')) {
      mistakes.add({ file: CONTRACT, line, column }, CONTRACT, message);
    }
    return undefined;
  }
}

/** graphql-js throws for the first value that an argument cannot have. */
function checkArguments(read: () => unknown, node: Parameters<typeof placeOf>[0], mistakes: Mistakes): void {
  try {
    read();
  } catch (thrown) {
    if (!(thrown instanceof GraphQLError)) throw thrown;
    mistakes.add(placeOf(node), CONTRACT, thrown.message);
  }
}
