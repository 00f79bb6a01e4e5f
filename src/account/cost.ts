import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
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

/** Items of a list about whose length nothing is said. */
const ASSUMED_SIZE = 10;
/** A window's own fields; the lists among them are as long as the window. */
const WINDOWED: ReadonlySet<string> = new Set(['nodes', 'edges']);

type Variables = Readonly<Record<string, unknown>>;

/**
 * What an operation may make the upstreams do, in objects: each object counts 1 and each leaf 0 unless @cost says
 * otherwise, times the length of every list around it (its window's `first`, @listSize, or 10). In: a valid document.
 * Out: undefined when there is no such operation, which execution then says itself.
 */
export type CostOf = (
  document: DocumentNode,
  operationName: string | undefined,
  variables: Variables | undefined,
) => { readonly cost: number; readonly at: FieldNode | undefined } | undefined;

/** Prepares the weights of a contract. In: the most items a window can have. */
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
    const meter = new Meter(document, weights, given, largestWindow);
    return { cost: meter.of(operation.selectionSet, root.name, undefined), at: meter.dearest };
  };
}

/** The refusal of an operation that costs more than it may, at the window that costs most. */
export function costError(cost: number, limit: number, at: FieldNode | undefined): GraphQLError {
  return new GraphQLError(`The operation costs ${cost}, and ${limit} is the most. Ask for fewer items at once.`, {
    nodes: at === undefined ? [] : [at],
  });
}

interface Weight {
  readonly own: number;
  readonly isList: boolean;
  /** Items, when it is a list of no window. */
  readonly size: number;
  /** The name of the type it gives, when that has fields. */
  readonly inner: string | undefined;
  readonly takesFirst: boolean;
  readonly firstDefault: number | undefined;
}

/** By the name of a type, then of its field. */
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

class Meter {
  readonly #weights: Weights;
  readonly #fragments = new Map<string, FragmentDefinitionNode>();
  readonly #variables: Variables;
  readonly #largestWindow: number;
  /** A fragment costs the same wherever it is spread in the same kind of window. */
  readonly #known = new Map<string, number>();
  dearest: FieldNode | undefined;
  #most = 0;

  constructor(document: DocumentNode, weights: Weights, variables: Variables, largestWindow: number) {
    this.#weights = weights;
    this.#variables = variables;
    this.#largestWindow = largestWindow;
    for (const node of document.definitions) {
      if (node.kind === Kind.FRAGMENT_DEFINITION) this.#fragments.set(node.name.value, node);
    }
  }

  of(set: SelectionSetNode, type: string, window: number | undefined): number {
    let total = 0;
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) total += this.#field(selection, type, window);
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        total += this.of(selection.selectionSet, selection.typeCondition?.name.value ?? type, window);
      } else total += this.#fragment(selection.name.value, window);
    }
    return total;
  }

  #field(node: FieldNode, type: string, window: number | undefined): number {
    const weight = this.#weights.get(type)?.get(node.name.value);
    if (weight === undefined) return 0;
    const inner = weight.takesFirst ? this.#first(node, weight) : undefined;
    const below =
      node.selectionSet === undefined || weight.inner === undefined
        ? 0
        : this.of(node.selectionSet, weight.inner, inner);
    const times = !weight.isList ? 1 : window !== undefined && WINDOWED.has(node.name.value) ? window : weight.size;
    const cost = times * (weight.own + below);
    if (cost > this.#most && weight.takesFirst) [this.#most, this.dearest] = [cost, node];
    return cost;
  }

  /** What `first` asks for. Beyond the largest window the field refuses itself, so it counts as that. */
  #first(node: FieldNode, weight: Weight): number {
    const given = node.arguments?.find(({ name }) => name.value === 'first')?.value;
    let value: unknown = weight.firstDefault;
    if (given?.kind === Kind.INT) value = Number(given.value);
    else if (given?.kind === Kind.VARIABLE) value = this.#variables[given.name.value] ?? value;
    const count = typeof value === 'number' ? value : this.#largestWindow;
    return Math.min(Math.max(count, 0), this.#largestWindow);
  }

  #fragment(name: string, window: number | undefined): number {
    const key = `${name} ${window ?? ''}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const fragment = this.#fragments.get(name);
    const cost = fragment === undefined ? 0 : this.of(fragment.selectionSet, fragment.typeCondition.name.value, window);
    this.#known.set(key, cost);
    return cost;
  }
}
