import { type GraphQLResolveInfo, responsePathAsArray } from 'graphql';
import { objectOf } from '../../http/json-object.ts';
import { MappingValueError } from '../connect/mapping-value.ts';
import type { AccountOperation } from '../connect/operation.ts';
import type { UpstreamAnswer } from '../connect/response-rules.ts';
import { AccountError } from '../errors.ts';
import type { ErrorTree, ResponsePlace } from './failures.ts';
import type { RemoteEntry } from './join.ts';
import { fillVariables } from './plan.ts';
import type { PlanOf } from './plans.ts';
import { errorTree, failureAt, type ResultReading, readField, unusableAt } from './result.ts';
import { callKey, printOperation, type Wanted } from './upstream-operation.ts';

interface Waiting extends Wanted {
  readonly place: ResponsePlace;
  readonly result: PromiseWithResolvers<unknown>;
}

/** Resolves to the field's value in the contract's form, or to an Error. Rejects with AccountError. */
export type Gather = (entry: RemoteEntry, info: GraphQLResolveInfo) => Promise<unknown>;

/**
 * Collects the remote fields that a client's operation requests while graphql-js resolves a level, then requests all
 * fields of each upstream in one call.
 */
export function createGatherer(operation: AccountOperation, planOf: PlanOf): Gather {
  const { largestWindow } = operation;
  let waiting: Waiting[] = [];
  const flush = (): void => {
    const calls = Map.groupBy(waiting, ({ entry }) => callKey(entry));
    waiting = [];
    for (const wanted of calls.values()) void send(operation, wanted);
  };
  return (entry, info) => {
    const plan = planOf(entry, info, operation);
    const variables = fillVariables(plan, { info, largestWindow });
    const place = { path: responsePathAsArray(info.path), nodes: info.fieldNodes };
    const result = Promise.withResolvers<unknown>();
    if (waiting.length === 0) setImmediate(flush);
    waiting.push({ entry, plan, variables, place, result });
    return result.promise;
  };
}

/** Sends one call and settles the result of each of its fields. Never rejects. */
async function send(operation: AccountOperation, wanted: readonly Waiting[]): Promise<void> {
  try {
    const [first] = wanted;
    if (first === undefined) return;
    const { source } = first.entry.mapping;
    const { query, variables, paths } = printOperation(wanted, operation.principal.sub);
    const answer = await operation.post(source, { query, variables, operationName: 'AccountApi' });
    const { data, errors } = answerOf(answer, source);
    const reading = { source, writes: first.entry.writes, further: operation.alsoFailed };
    for (const [index, each] of wanted.entries())
      each.result.resolve(fieldOf(each, data, errors, paths[index] ?? [], reading));
  } catch (thrown) {
    const known = thrown instanceof AccountError;
    const reason = known ? thrown : new AccountError('INTERNAL_SERVER_ERROR', { cause: thrown });
    for (const { result } of wanted) result.reject(reason);
  }
}

/**
 * Checks that a response is a usable GraphQL response.
 *
 * @throws {AccountError}
 */
function answerOf({ status, data: body }: UpstreamAnswer, source: string) {
  const failed = (code: 'UPSTREAM_ERROR' | 'UPSTREAM_BAD_RESPONSE', what: string) =>
    new AccountError(code, { cause: new MappingValueError(`${source}: ${what}`) });
  const { data, errors } = objectOf(body);
  if (status < 200 || status > 299) {
    // Our operations match the recorded schema, so if the upstream refuses one, its schema has changed.
    if (status === 400 && errors !== undefined) throw failed('UPSTREAM_BAD_RESPONSE', refusal(errors));
    throw failed('UPSTREAM_ERROR', `status ${status}`);
  }
  if (data === undefined)
    throw failed('UPSTREAM_BAD_RESPONSE', errors === undefined ? 'no GraphQL answer' : refusal(errors));
  const tree = errorTree(errors);
  if (tree === undefined) throw failed('UPSTREAM_ERROR', refusal(errors));
  if (data === null && tree.children.size === 0) throw failed('UPSTREAM_BAD_RESPONSE', 'null without a reason');
  return { data, errors: tree };
}

/** Why the upstream refused the operation, for the log. */
function refusal(errors: unknown): string {
  const [first] = Array.isArray(errors) ? (errors as readonly { readonly message?: unknown }[]) : [];
  return `the operation was refused: ${String(first?.message).slice(0, 200)}`;
}

/** Reads a field from a response. A null on its path means an unknown member, unless errors give another reason. */
function fieldOf(
  { plan, place }: Waiting,
  data: unknown,
  errors: ErrorTree,
  path: readonly (string | number)[],
  reading: ResultReading,
): unknown {
  let value = data;
  let tree: ErrorTree | undefined = errors;
  for (const [depth, key] of path.entries()) {
    if (value === null) return lost(plan.field, tree, path.slice(depth), place, reading);
    if (typeof value !== 'object' || !Object.hasOwn(value as object, key))
      return unusableAt(reading, 'another shape', place);
    if (typeof key === 'number' && (value as readonly unknown[]).length !== 1)
      return unusableAt(reading, 'another number of members', place);
    value = (value as Readonly<Record<string | number, unknown>>)[key];
    tree = tree?.children.get(key);
  }
  return readField(reading, plan.field, value, tree, place);
}

/** The error of a field below a null: its own if it has one, otherwise whatever else caused the null. */
function lost(
  field: Waiting['plan']['field'],
  tree: ErrorTree | undefined,
  rest: readonly (string | number)[],
  place: ResponsePlace,
  reading: ResultReading,
): unknown {
  let own = tree;
  for (const key of rest) own = own?.children.get(key);
  return failureAt(reading, own, place, field.inner) ?? failureAt(reading, tree, place, undefined);
}
