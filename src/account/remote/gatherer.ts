import type { GraphQLResolveInfo } from 'graphql';
import type { Operation } from '../connect/operation.ts';
import type { UpstreamAnswer } from '../connect/outcome.ts';
import { AccountError } from '../errors.ts';
import type { ErrorTree, Spot } from './failures.ts';
import type { Boundary } from './join.ts';
import { fillVariables } from './plan.ts';
import type { Plans } from './plans.ts';
import { errorTree, ResultReader } from './result.ts';
import { callKey, printOperation, type Wanted } from './upstream-operation.ts';

interface Waiting extends Wanted {
  readonly spot: Spot;
  readonly result: PromiseWithResolvers<unknown>;
}

/**
 * Collects the remote fields that a client's operation requests while graphql-js resolves a level, then requests all
 * fields of each upstream in one call.
 */
export class Gatherer {
  readonly #operation: Operation;
  readonly #plans: Plans;
  #waiting: Waiting[] = [];

  constructor(operation: Operation, plans: Plans) {
    this.#operation = operation;
    this.#plans = plans;
  }

  /** Resolves to the field's value in the contract's form, or to an Error. Rejects with AccountError. */
  ask(boundary: Boundary, info: GraphQLResolveInfo): Promise<unknown> {
    const { largestWindow } = this.#operation;
    const plan = this.#plans.of(boundary, info, this.#operation);
    const variables = fillVariables(plan, { info, largestWindow });
    const spot = { path: pathOf(info), nodes: info.fieldNodes };
    const result = Promise.withResolvers<unknown>();
    if (this.#waiting.length === 0) setImmediate(() => this.#flush());
    this.#waiting.push({ boundary, plan, variables, spot, result });
    return result.promise;
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const together of Map.groupBy(waiting, ({ boundary }) => callKey(boundary)).values()) {
      void this.#send(together);
    }
  }

  /** Sends one call and settles the result of each of its fields. Never rejects. */
  async #send(wanted: readonly Waiting[]): Promise<void> {
    try {
      const [first] = wanted;
      if (first === undefined) return;
      const { mapping, writes } = first.boundary;
      const { query, variables, paths } = printOperation(wanted, this.#operation.principal.sub);
      const answer = await this.#operation.post(mapping.source, { query, variables, operationName: 'AccountApi' });
      const reader = new ResultReader(mapping.source, writes);
      const { data, errors } = answerOf(answer, mapping.source);
      for (const [index, each] of wanted.entries()) {
        each.result.resolve(fieldOf(each, data, errors, paths[index] ?? [], reader));
      }
      this.#operation.alsoFailed.push(...reader.further);
    } catch (thrown) {
      const known = thrown instanceof AccountError;
      const reason = known ? thrown : new AccountError('INTERNAL_SERVER_ERROR', { cause: thrown });
      for (const { result } of wanted) result.reject(reason);
    }
  }
}

interface Answered {
  readonly data: unknown;
  readonly errors: ErrorTree;
}

/**
 * Checks that a response is a usable GraphQL response.
 *
 * @throws {AccountError}
 */
function answerOf({ status, data: body }: UpstreamAnswer, source: string): Answered {
  const failed = (code: 'UPSTREAM_ERROR' | 'UPSTREAM_BAD_RESPONSE', what: string) =>
    new AccountError(code, { cause: new Error(`${source}: ${what}`) });
  const isBody = typeof body === 'object' && body !== null && !Array.isArray(body);
  const { data, errors } = (isBody ? body : {}) as Readonly<Record<string, unknown>>;
  if (status < 200 || status > 299) {
    // Our operations match the recorded schema, so if the upstream refuses one, its schema has changed.
    if (status === 400 && errors !== undefined) throw failed('UPSTREAM_BAD_RESPONSE', refusal(errors));
    throw failed('UPSTREAM_ERROR', `status ${status}`);
  }
  if (data === undefined) {
    throw failed('UPSTREAM_BAD_RESPONSE', errors === undefined ? 'no GraphQL answer' : refusal(errors));
  }
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
  { plan, spot }: Waiting,
  data: unknown,
  errors: ErrorTree,
  path: readonly (string | number)[],
  reader: ResultReader,
): unknown {
  let value = data;
  let tree: ErrorTree | undefined = errors;
  for (const [depth, key] of path.entries()) {
    if (value === null) return lost(plan.field, tree, path.slice(depth), spot, reader);
    if (typeof value !== 'object' || !Object.hasOwn(value as object, key))
      return reader.unusable('another shape', spot);
    if (typeof key === 'number' && (value as readonly unknown[]).length !== 1) {
      return reader.unusable('another number of members', spot);
    }
    value = (value as Readonly<Record<string | number, unknown>>)[key];
    tree = tree?.children.get(key);
  }
  return reader.field(plan.field, value, tree, spot);
}

/** The error of a field below a null: its own if it has one, otherwise whatever else caused the null. */
function lost(
  field: Waiting['plan']['field'],
  tree: ErrorTree | undefined,
  rest: readonly (string | number)[],
  spot: Spot,
  reader: ResultReader,
): unknown {
  let own = tree;
  for (const key of rest) own = own?.children.get(key);
  return reader.failure(own, spot, field.inner) ?? reader.failure(tree, spot, undefined);
}

function pathOf({ path }: GraphQLResolveInfo): readonly (string | number)[] {
  const keys: (string | number)[] = [];
  for (let step: typeof path | undefined = path; step !== undefined; step = step.prev) keys.unshift(step.key);
  return keys;
}
