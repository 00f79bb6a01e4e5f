import { type FieldNode, GraphQLError, type GraphQLResolveInfo, getArgumentValues } from 'graphql';
import { collectSubfields } from 'graphql/execution/collectFields.js';
import { defaultFirst, isOutsideWindow } from '../connect/window.ts';
import type { ArgumentJoin, FieldJoin, ObjectJoin, TypeJoin } from './join.ts';

/** A field as requested upstream, under a generated alias: no name chosen by a client reaches an upstream. */
export interface FieldPlan {
  readonly alias: string;
  /** The client's response key for it; undefined if the client did not request it. */
  readonly key: string | undefined;
  readonly nodes: readonly FieldNode[];
  readonly join: FieldJoin;
  /** The arguments that are sent, each with the variable for its value. */
  readonly arguments: readonly { readonly variable: string; readonly argument: ArgumentJoin }[];
  readonly inner: SelectionPlan | undefined;
}

/** The fields requested of an object, or, if the type is abstract, of each possible type by its name at the upstream. */
export interface SelectionPlan {
  readonly abstract: boolean;
  readonly objects: ReadonlyMap<string, ObjectPlan>;
}

interface ObjectPlan {
  /** Name in the contract. */
  readonly typeName: string;
  readonly fields: readonly FieldPlan[];
}

/** One mapped field of a client's operation, as GraphQL text. */
export interface Plan {
  readonly field: FieldPlan;
  /** Its text in the upstream operation. */
  readonly text: string;
  /** The field and those below it, as far as they have arguments. */
  readonly withArguments: readonly FieldPlan[];
}

/** The input of a plan. */
export interface PlanContext {
  readonly info: GraphQLResolveInfo;
  /** Largest number of items in a window. */
  readonly largestWindow: number;
  /** Whether the token may read a field, by coordinate. Other fields are not requested. */
  readonly opens: (coordinate: string) => boolean;
}

/** Plans one mapped field. `member` is the argument that takes the member's id. */
export function planField(join: FieldJoin, alias: string, context: PlanContext, member: string | undefined): Plan {
  const { fieldNodes, path } = context.info;
  const field = planner(alias, context)(join, alias, String(path.key), fieldNodes);
  return { field, text: printField(field, member), withArguments: [...fieldsWithArguments(field)] };
}

function* fieldsWithArguments(field: FieldPlan): Generator<FieldPlan> {
  if (field.arguments.length > 0) yield field;
  for (const { fields } of field.inner?.objects.values() ?? []) {
    for (const inner of fields) yield* fieldsWithArguments(inner);
  }
}

function printField({ alias, join, arguments: given, inner }: FieldPlan, member?: string): string {
  const texts = given.map(({ variable, argument }) => `${argument.name}: $${variable}`);
  if (member !== undefined) texts.push(`${member}: $${alias}_member`);
  const head = `${alias}: ${join.name}${texts.length === 0 ? '' : `(${texts.join(', ')})`}`;
  return inner === undefined ? head : `${head} { ${printSelection(inner)} }`;
}

function printSelection({ abstract, objects }: SelectionPlan): string {
  const texts = [...objects].map(([name, { fields }]) => {
    const text = fields.map((field) => printField(field)).join(' ');
    return abstract && text !== '' ? `... on ${name} { ${text} }` : text;
  });
  // The type's name is needed to read an abstract type, and no selection may be empty.
  const wanted = texts.filter((text) => text !== '');
  return (abstract || wanted.length === 0 ? ['__typename', ...wanted] : wanted).join(' ');
}

/**
 * The values of a plan's variables for this request, in the upstream's form.
 *
 * @throws {AccountError}
 */
export function fillVariables(
  { withArguments }: Plan,
  { info, largestWindow }: Pick<PlanContext, 'info' | 'largestWindow'>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { join, nodes, arguments: wanted } of withArguments) {
    const given = argumentsOf(join, nodes, info, largestWindow);
    for (const { variable, argument } of wanted) values[variable] = argument.write(given[argument.argument]);
  }
  return values;
}

/** The variables of a plan with their upstream types. */
export function variableTypes({ withArguments }: Plan): readonly (readonly [name: string, type: string])[] {
  return withArguments.flatMap(({ arguments: given }) =>
    given.map(({ variable, argument }) => [variable, argument.type] as const),
  );
}

/**
 * The values of a field's arguments. `first` is always set, because the upstream's default might be the whole list. A
 * field that the client did not request has none.
 */
function argumentsOf(
  { field }: FieldJoin,
  [node]: readonly FieldNode[],
  info: GraphQLResolveInfo,
  largestWindow: number,
): Readonly<Record<string, unknown>> {
  if (node === undefined) return {};
  const given = getArgumentValues(field, node, info.variableValues);
  const takesFirst = field.args.some(({ name, type }) => name === 'first' && String(type) === 'Int');
  return takesFirst ? { ...given, first: given.first ?? defaultFirst(largestWindow) } : given;
}

/** Returns what plans fields. Variables and aliases begin with `prefix`. */
function planner(prefix: string, context: PlanContext) {
  const fragments = Object.fromEntries(
    Object.entries(context.info.fragments).map(([name, definition]) => [name, { definition }]),
  );
  let variableCount = 0;
  let aliasCount = 0;
  return fieldPlan;

  function fieldPlan(join: FieldJoin, alias: string, key: string | undefined, nodes: readonly FieldNode[]): FieldPlan {
    const given = argumentsOf(join, nodes, context.info, context.largestWindow);
    const sent = join.arguments.filter(({ argument }) => given[argument] !== undefined);
    const variables = sent.map((argument) => ({ variable: variable(), argument }));
    return { alias, key, nodes, join, arguments: variables, inner: join.inner && selectionPlan(join.inner, nodes) };
  }

  function selectionPlan({ abstract, objects }: TypeJoin, parents: readonly FieldNode[]): SelectionPlan {
    const planned = [...objects].map(([name, object]) => [name, objectPlan(object, parents)] as const);
    return { abstract, objects: new Map(planned) };
  }

  /** `parents` are the nodes of the field that returns the object. */
  function objectPlan(join: ObjectJoin, parents: readonly FieldNode[]): ObjectPlan {
    const fields: FieldPlan[] = [];
    const needed = new Set<FieldJoin>();
    const { schema, variableValues } = context.info;
    const details = parents.map((node) => ({ node }));
    const collected = collectSubfields(schema, fragments, variableValues, join.type, details, true);
    for (const [key, found] of collected.groupedFieldSet) {
      const nodes = found.map(({ node }) => node);
      const name = nodes[0]?.name.value ?? '';
      const field = join.fields.get(name);
      // Fields of another service need some fields of this one. They get separate aliases, whatever the client requested.
      if (field === undefined) for (const need of join.needs.get(name) ?? []) needed.add(need);
      else if (isRequested(field, nodes)) fields.push(fieldPlan(field, alias(), key, nodes));
    }
    for (const need of needed) fields.push(fieldPlan(need, alias(), undefined, []));
    return { typeName: join.type.name, fields };
  }

  /** Whether to request a field. Forbidden fields and invalid windows are left to graphql-js, which fails at their path. */
  function isRequested(field: FieldJoin, nodes: readonly FieldNode[]): boolean {
    const { info, largestWindow, opens } = context;
    if (!opens(field.coordinate)) return false;
    try {
      return !isOutsideWindow(argumentsOf(field, nodes, info, largestWindow), largestWindow);
    } catch (thrown) {
      if (thrown instanceof GraphQLError) return false;
      throw thrown;
    }
  }

  function variable(): string {
    variableCount += 1;
    return `${prefix}_${variableCount - 1}`;
  }

  function alias(): string {
    aliasCount += 1;
    return `f${aliasCount}`;
  }
}
