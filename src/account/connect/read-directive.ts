import {
  type ConstDirectiveNode,
  coerceInputLiteral,
  GraphQLError,
  Kind,
  type StringValueNode,
  type ValueNode,
  validateInputLiteral,
} from 'graphql';
import { DIRECTIVES, type DirectiveArguments } from './directives.ts';
import { type Mistakes, placeOf } from './mistakes.ts';

/** Reads a directive's arguments. Returns undefined when they have mistakes, which are added to `mistakes`. */
export function readDirective<Name extends keyof DirectiveArguments>(
  name: Name,
  node: ConstDirectiveNode,
  coordinate: string,
  mistakes: Mistakes,
): DirectiveArguments[Name] | undefined {
  const definition = DIRECTIVES.getDirective(name);
  if (definition === undefined || definition === null) throw new Error(`no directive @${name}`);
  const values: Record<string, unknown> = {};
  let sound = true;
  const wrong = (place: Parameters<typeof placeOf>[0], message: string): void => {
    sound = false;
    mistakes.add(placeOf(place), coordinate, `@${name}: ${message}`);
  };
  for (const given of node.arguments ?? []) {
    const argument = definition.args.find((each) => each.name === given.name.value);
    if (argument === undefined) {
      wrong(given, `there is no argument ${given.name.value}`);
      continue;
    }
    const problem = (error: GraphQLError): void =>
      wrong(error.nodes?.[0] ?? given, `${argument.name}: ${error.message}`);
    validateInputLiteral(given.value, argument.type, problem);
    // null is the same as no argument.
    values[argument.name] = coerceInputLiteral(given.value, argument.type) ?? undefined;
  }
  for (const argument of definition.args) {
    const needed = String(argument.type).endsWith('!');
    const missing = !node.arguments?.some((given) => given.name.value === argument.name);
    if (needed && missing) wrong(node, `the argument ${argument.name} is missing`);
  }
  return sound ? (values as unknown as DirectiveArguments[Name]) : undefined;
}

/**
 * The string literal at a path of argument and field names.
 *
 * @throws {GraphQLError} when there is none, which `readDirective` rules out
 */
export function literalAt(node: ConstDirectiveNode, ...path: readonly (string | number)[]): StringValueNode {
  let value: ValueNode | undefined;
  for (const step of path) {
    if (value === undefined) value = node.arguments?.find((each) => each.name.value === step)?.value;
    else if (value.kind === Kind.OBJECT) value = value.fields.find((each) => each.name.value === step)?.value;
    else if (value.kind === Kind.LIST) value = value.values[step as number];
  }
  if (value?.kind !== Kind.STRING) throw new GraphQLError(`no string at ${path.join('.')}`, { nodes: [node] });
  return value;
}
