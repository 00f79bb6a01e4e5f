import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getDirectiveValues,
  getNamedType,
  getNullableType,
  getOperationAST,
  isCompositeType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Contract } from './contract.ts';
import { fragmentsOf } from './read-fields.ts';

/** Assumed length of a list without @listSize or `first`. */
const ASSUMED_SIZE = 10;
/** The fields of a connection whose lists are as long as its window. */
const WINDOWED: ReadonlySet<string> = new Set(['nodes', 'edges']);

type Variables = Readonly<Record<string, unknown>>;

/**
 * Estimates the cost of an operation in objects: each object counts 1 and each leaf 0 unless @cost says otherwise,
 * multiplied by the length of every list around it (`first` of its window, @listSize, or 10). Expects a valid document.
 * Returns undefined when there is no such operation, which execution then reports.
 */
export type CostOf = (
  document: DocumentNode,
  operationName: string | undefined,
  variables: Variables | undefined,
) => { readonly cost: number; readonly at: FieldNode | undefined } | undefined;

/** Prepares the weights of a contract. `largestWindow` is the largest value of `first`. */
export function costMeter({ schema, vocabulary }: Contract, largestWindow: number): CostOf {
  const weights = readWeights(schema, vocabulary);
  return (document, operationName, variables) => {
    const operation = getOperationAST(document, operationName);
    const root = operation && schema.getRootType(operation.operation);
    if (!operation || !root) return undefined;
    const given: Record<string, unknown> = {};
    for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
      const name = variable.name.value;
      if (variables && Object.hasOwn(variables, name)) given[name] = variables[name];
      else if (defaultValue?.kind === Kind.INT) given[name] = Number(defaultValue.value);
    }
    const meter = createMeter(document, weights, given, largestWindow);
    return { cost: meter.of(operation.selectionSet, root.name, undefined), at: meter.dearest() };
  };
}

/** The error for an operation that exceeds the cost limit, located at its most expensive window. */
export function costError(cost: number, limit: number, at: FieldNode | undefined): GraphQLError {
  return new GraphQLError(`The operation costs ${cost}, but the limit is ${limit}. Request fewer items at once.`, {
    nodes: at === undefined ? [] : [at],
  });
}

interface Weight {
  readonly own: number;
  readonly isList: boolean;
  /** Number of items, for a list that is not part of a window. */
  readonly size: number;
  /** The name of the result type, if it has fields. */
  readonly inner: string | undefined;
  readonly takesFirst: boolean;
  readonly firstDefault: number | undefined;
}

/** Keyed by type name, then by field name. */
type Weights = ReadonlyMap<string, ReadonlyMap<string, Weight>>;

function readWeights(schema: GraphQLSchema, vocabulary: GraphQLSchema): Weights {
  const value = (name: string, field: GraphQLField<unknown, unknown>, argument: string): number | undefined => {
    const definition = vocabulary.getDirective(name);
    if (!definition || !field.astNode) return undefined;
    return getDirectiveValues(definition, field.astNode)?.[argument] as number | undefined;
  };
  const weights = new Map<string, ReadonlyMap<string, Weight>>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!(isObjectType(type) || isInterfaceType(type)) || type.name.startsWith('__')) continue;
    const fields = new Map<string, Weight>();
    for (const field of Object.values(type.getFields())) {
      const named = getNamedType(field.type);
      const first = field.args.find(({ name }) => name === 'first');
      fields.set(field.name, {
        own: value('cost', field, 'weight') ?? (isLeafType(named) ? 0 : 1),
        size: value('listSize', field, 'assumedSize') ?? ASSUMED_SIZE,
        isList: isListType(getNullableType(field.type)),
        inner: isCompositeType(named) ? named.name : undefined,
        takesFirst: first !== undefined,
        firstDefault: defaultInt(first?.astNode?.defaultValue),
      });
    }
    weights.set(type.name, fields);
  }
  return weights;
}

function defaultInt(node: { readonly kind: string; readonly value?: unknown } | undefined): number | undefined {
  return node?.kind === Kind.INT ? Number(node.value) : undefined;
}

/** Measures selections of one operation, of which `dearest` is the most expensive window so far. */
function createMeter(document: DocumentNode, weights: Weights, variables: Variables, largestWindow: number) {
  const fragments = fragmentsOf(document);
  /** Costs of fragments: the same wherever one is spread in a window of the same size. */
  const known = new Map<string, number>();
  let dearest: FieldNode | undefined;
  let most = 0;
  const of = (set: SelectionSetNode, type: string, window: number | undefined): number =>
    set.selections.reduce((total, selection) => {
      if (selection.kind === Kind.FIELD) return total + ofField(selection, type, window);
      if (selection.kind === Kind.FRAGMENT_SPREAD) return total + ofFragment(selection.name.value, window);
      return total + of(selection.selectionSet, selection.typeCondition?.name.value ?? type, window);
    }, 0);
  const ofField = (node: FieldNode, type: string, window: number | undefined): number => {
    const weight = weights.get(type)?.get(node.name.value);
    if (weight === undefined) return 0;
    const inner = weight.takesFirst ? firstOf(node, weight) : undefined;
    const below = node.selectionSet && weight.inner ? of(node.selectionSet, weight.inner, inner) : 0;
    const times = !weight.isList ? 1 : window !== undefined && WINDOWED.has(node.name.value) ? window : weight.size;
    const cost = times * (weight.own + below);
    if (cost > most && weight.takesFirst) [most, dearest] = [cost, node];
    return cost;
  };
  /** The value of `first`, at most the largest window: the field itself refuses larger values. */
  const firstOf = (node: FieldNode, weight: Weight): number => {
    const given = node.arguments?.find(({ name }) => name.value === 'first')?.value;
    let value: unknown = weight.firstDefault;
    if (given?.kind === Kind.INT) value = Number(given.value);
    else if (given?.kind === Kind.VARIABLE) value = variables[given.name.value] ?? value;
    const count = typeof value === 'number' ? value : largestWindow;
    return Math.min(Math.max(count, 0), largestWindow);
  };
  const ofFragment = (name: string, window: number | undefined): number => {
    const key = `${name} ${window ?? ''}`;
    const fragment = fragments.get(name);
    const cost =
      known.get(key) ?? (fragment ? of(fragment.selectionSet, fragment.typeCondition.name.value, window) : 0);
    known.set(key, cost);
    return cost;
  };
  return { of, dearest: () => dearest };
}
