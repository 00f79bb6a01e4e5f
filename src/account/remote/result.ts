import { type GraphQLError, type GraphQLOutputType, getNullableType, isListType } from 'graphql';
import { unusable } from '../connect/window.ts';
import { ErrorTree, failuresBelow, located, type ResponsePlace } from './failures.ts';
import type { FieldPlan, SelectionPlan } from './plan.ts';
import { RemoteObject } from './remote-object.ts';

type Members = Readonly<Record<string, unknown>>;

/** What an upstream's response is read with. */
export interface ResultReading {
  readonly source: string;
  readonly writes: boolean;
  /** Takes the errors beyond the one that a field can throw: an upstream can have several below one null. */
  readonly further: GraphQLError[];
}

/**
 * Converts the value of a field to the contract's form: null, a value, or an Error for graphql-js. `errors` are the
 * upstream's errors there, `type` is that of an item when the value is one of a list.
 */
export function readField(
  reading: ResultReading,
  plan: FieldPlan,
  value: unknown,
  errors: ErrorTree | undefined,
  place: ResponsePlace,
  type: GraphQLOutputType = plan.join.field.type,
): unknown {
  if (value === null) return failureAt(reading, errors, place, plan.inner);
  if (value === undefined) return unusableAt(reading, `no ${plan.join.name} in the answer`, place);
  const bare = getNullableType(type);
  if (isListType(bare)) {
    if (!Array.isArray(value)) return unusableAt(reading, `${plan.join.name} is no list`, place);
    return value.map((item, index) => {
      const at = { path: [...place.path, index], nodes: place.nodes };
      return readField(reading, plan, item, errors?.children.get(index), at, bare.ofType);
    });
  }
  return plan.inner === undefined ? plan.join.read(value) : readObject(reading, plan.inner, value, errors, place);
}

/** The error for a place that is null because of `errors`, or null when there are none. */
export function failureAt(
  { writes, further }: ResultReading,
  errors: ErrorTree | undefined,
  place: ResponsePlace,
  inner: SelectionPlan | undefined,
): GraphQLError | null {
  const [first, ...rest] = failuresBelow(errors, place, inner, writes);
  further.push(...rest);
  return first ?? null;
}

/** The error for a response that does not match the request. */
export function unusableAt({ source }: ResultReading, what: string, place: ResponsePlace): GraphQLError {
  return located(unusable(source, what), place);
}

function readObject(
  reading: ResultReading,
  selection: SelectionPlan,
  value: unknown,
  errors: ErrorTree | undefined,
  place: ResponsePlace,
): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return unusableAt(reading, 'not an object', place);
  const members = value as Members;
  const plan = selection.abstract
    ? selection.objects.get(String(members.__typename))
    : selection.objects.values().next().value;
  // The upstream has a new type, of which no fields were requested.
  if (plan === undefined) return unusableAt(reading, `the contract has no ${String(members.__typename)}`, place);
  const object = new RemoteObject(plan.typeName);
  for (const field of plan.fields) {
    const given = Object.hasOwn(members, field.alias) ? members[field.alias] : undefined;
    const below = errors?.children.get(field.alias);
    const { key, nodes, join } = field;
    if (key !== undefined)
      object.set(key, readField(reading, field, given, below, { path: [...place.path, key], nodes }));
    else object.need(join.field.name, typeof given === 'object' || given === undefined ? null : join.read(given));
  }
  return object;
}

/** Reads the errors of a response. Returns undefined when one of them has no path. */
export function errorTree(errors: unknown): ErrorTree | undefined {
  const tree = new ErrorTree();
  if (errors === undefined || errors === null) return tree;
  if (!Array.isArray(errors)) return undefined;
  for (const error of errors as readonly unknown[]) {
    const { message, path, extensions } = (error ?? {}) as Members;
    const isPath = Array.isArray(path) && path.length > 0 && path.every((key) => isKey(key));
    if (!isPath) return undefined;
    const { code } = (extensions ?? {}) as Members;
    tree.add(path, { message: String(message), code: typeof code === 'string' ? code : undefined });
  }
  return tree;
}

function isKey(key: unknown): key is string | number {
  return typeof key === 'string' || typeof key === 'number';
}
