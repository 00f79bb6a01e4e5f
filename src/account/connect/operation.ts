import type { GraphQLError } from 'graphql';
import { GatewayError } from '../../errors.ts';
import { SESSION_OVER, type SessionOver } from '../../oauth/challenge.ts';
import type { MemberPrincipal } from '../../oauth/principal.ts';
import type { CallForPrincipal, UpstreamRequest, UpstreamResponse } from '../../upstream/request.ts';
import { AccountError, type AccountErrorCode } from '../errors.ts';
import type { Limits } from '../limits.ts';
import { Batch } from './batch.ts';
import type { Connector } from './connector.ts';
import type { Scope } from './evaluate.ts';
import { parseJson } from './json.ts';
import type { Mapping, TypeMapping } from './mapping.ts';
import { MappingValueError } from './methods.ts';
import { isSuccess, refusalOf, type UpstreamAnswer } from './outcome.ts';
import { fillForm, fillHeader, fillPath, fillQuery } from './template.ts';

const FAILURES: Readonly<Partial<Record<GatewayError['code'], AccountErrorCode>>> = {
  upstream_unreachable: 'UPSTREAM_UNAVAILABLE',
  upstream_overloaded: 'UPSTREAM_UNAVAILABLE',
  upstream_unavailable: 'UPSTREAM_UNAVAILABLE',
  upstream_timeout: 'UPSTREAM_TIMEOUT',
  upstream_invalid: 'UPSTREAM_BAD_RESPONSE',
};

export interface OperationOptions {
  readonly principal: MemberPrincipal;
  readonly call: CallForPrincipal;
  readonly mapping: Mapping;
  /** The value of $config. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly limits: Pick<Limits, 'pageSize' | 'upstreamCalls'>;
  readonly signal: AbortSignal;
}

/** The state of one GraphQL operation: its member, the GET requests already sent, and the batches being collected. */
export class Operation {
  readonly #options: OperationOptions;
  /** The value of $context. It comes only from the verified token. */
  readonly #context: Readonly<Record<string, unknown>>;
  /**
   * Rejects when the operation is aborted. graphql-js waits for every resolver before it returns partial results, so
   * resolvers must not wait for a call that ignores the signal.
   */
  readonly #ended: Promise<never>;
  readonly #answers = new Map<string, Promise<UpstreamAnswer>>();
  readonly #batches = new Map<TypeMapping, Batch>();
  /** Further errors for the response: a field can only throw one, but a GraphQL upstream can return several for it. */
  readonly alsoFailed: GraphQLError[] = [];
  /** Set when an upstream says that the member's session is over: the whole request then fails. */
  sessionOver = false;
  #calls = 0;

  constructor(options: OperationOptions) {
    const { sub, email, name } = options.principal;
    this.#options = options;
    this.#context = Object.freeze({ sub, email, name });
    this.#ended = new Promise((_resolve, reject) => {
      options.signal.addEventListener('abort', () => reject(options.signal.reason), { once: true });
    });
    this.#ended.catch(() => {});
  }

  get principal(): MemberPrincipal {
    return this.#options.principal;
  }

  /** Largest number of items in a window. */
  get largestWindow(): number {
    return this.#options.limits.pageSize;
  }

  /** The variables of a mapping's texts: those given, plus $context and $config, which cannot be overridden. */
  scope(variables: Scope = {}): Scope {
    return { ...variables, context: this.#context, config: this.#options.config };
  }

  /**
   * Calls a connector's upstream and returns the response's data; undefined when there is nothing (a 404 to a read). An
   * identical read is made only once per operation.
   *
   * @throws {AccountError} when the call fails or is refused
   */
  async ask(connector: Connector, scope: Scope): Promise<unknown> {
    const call = this.#request(connector, scope);
    const key = connector.writes ? undefined : JSON.stringify(call);
    const answer = await ((key === undefined ? undefined : this.#answers.get(key)) ?? this.#exchange(call, key));
    const source = this.#options.mapping.sources.get(connector.source);
    const outcomes = source === undefined ? [connector.outcome] : [connector.outcome, source.outcome];
    if (isSuccess(outcomes, answer, scope)) {
      if (answer.data === undefined) throw badResponse(new Error(`${connector.source}: no JSON`));
      return answer.data;
    }
    const judged = outcomes.some((outcome) => outcome.isSuccess !== undefined);
    if (answer.status === 404 && !judged && !connector.writes) return undefined;
    throw refusalOf(outcomes, { ...answer, data: answer.data ?? null }, scope, connector.writes);
  }

  /** The batched fields of the object with this key; undefined when the upstream has none for it. */
  fieldsOf(mapping: TypeMapping, key: unknown): Promise<Readonly<Record<string, unknown>> | undefined> {
    let batch = this.#batches.get(mapping);
    if (batch === undefined) {
      batch = new Batch(mapping, this);
      this.#batches.set(mapping, batch);
    }
    return batch.fieldsOf(key);
  }

  /** Posts an operation to a GraphQL upstream with the settings of its @source. @throws {AccountError} */
  async post(source: string, operation: object): Promise<UpstreamAnswer> {
    const mapping = this.#options.mapping.sources.get(source);
    if (mapping?.graphql === undefined) throw new Error(`${source} speaks no GraphQL`);
    const scope = this.scope();
    const headers = mapping.headers.map(([name, template]) => [name, fillHeader(template, scope)] as const);
    return await this.#call({
      upstream: source,
      method: 'POST',
      path: mapping.graphql.path,
      headers: { ...Object.fromEntries(headers), ...GRAPHQL_HEADERS },
      body: JSON.stringify(operation),
    });
  }

  #request({ source, method, path, query, body, headers, takes }: Connector, scope: Scope): UpstreamRequest {
    try {
      const search = query === undefined ? '' : fillQuery(query(null, scope) as Record<string, unknown>);
      const all = [...(this.#options.mapping.sources.get(source)?.headers ?? []), ...headers];
      const type = body === undefined ? [] : [['content-type', 'application/json'] as const];
      return {
        upstream: source,
        method,
        path: fillPath(path, scope) + search,
        headers: Object.fromEntries([
          ['accept', 'application/json'],
          ...type,
          ...all.map(([name, template]) => [name, fillHeader(template, scope)] as const),
        ]) as Readonly<Record<string, string>>,
        ...(body === undefined ? {} : { body: fillBody(body, scope) }),
      };
    } catch (thrown) {
      if (!(thrown instanceof MappingValueError)) throw thrown;
      // The code depends on where the value came from: only the client can fix its arguments.
      throw new AccountError(REFUSED_VALUE[takes], { cause: thrown });
    }
  }

  #exchange(request: UpstreamRequest, key: string | undefined): Promise<UpstreamAnswer> {
    const answer = this.#call(request);
    if (key !== undefined) this.#answers.set(key, answer);
    return answer;
  }

  async #call(request: UpstreamRequest): Promise<UpstreamAnswer> {
    const { call, principal, signal, limits } = this.#options;
    this.#calls += 1;
    if (this.#calls > limits.upstreamCalls) throw new AccountError('REQUEST_LIMIT_EXCEEDED');
    let response: UpstreamResponse | SessionOver;
    try {
      response = await Promise.race([call({ ...request, principal, signal }), this.#ended]);
    } catch (thrown) {
      if (signal.aborted) throw new AccountError('UPSTREAM_TIMEOUT', { cause: thrown });
      const code = thrown instanceof GatewayError ? FAILURES[thrown.code] : undefined;
      throw new AccountError(code ?? 'INTERNAL_SERVER_ERROR', { cause: thrown });
    }
    if (response === SESSION_OVER) {
      this.sessionOver = true;
      throw new AccountError('INTERNAL_SERVER_ERROR');
    }
    return { status: response.status, data: dataOf(response) };
  }
}

const GRAPHQL_HEADERS = {
  accept: 'application/graphql-response+json, application/json',
  'content-type': 'application/json',
} as const;

/** Error code for a value that cannot be used in a call, by where it came from. */
const REFUSED_VALUE: Readonly<Record<Connector['takes'], AccountErrorCode>> = {
  arguments: 'BAD_USER_INPUT',
  data: 'UPSTREAM_BAD_RESPONSE',
  nothing: 'INTERNAL_SERVER_ERROR',
};

function fillBody({ kind, evaluate }: NonNullable<Connector['body']>, scope: Scope): string {
  const value = evaluate(null, scope);
  if (kind === 'form') return fillForm(value as Record<string, unknown>);
  return JSON.stringify(value, (_key, part: unknown) => {
    if (part instanceof MappingValueError) throw part;
    return part;
  });
}

/** The response's data: null if it has no body and needs none, undefined if it is not JSON. */
function dataOf({ status, body }: UpstreamResponse): unknown {
  if (body === '') return status === 204 || status === 205 ? null : undefined;
  try {
    return parseJson(body);
  } catch {
    return undefined;
  }
}

function badResponse(cause: Error): AccountError {
  return new AccountError('UPSTREAM_BAD_RESPONSE', { cause });
}
