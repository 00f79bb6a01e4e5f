import type { GraphQLError } from 'graphql';
import { GatewayError } from '../../errors.ts';
import type { MemberPrincipal } from '../../oauth/principal.ts';
import type { CallUpstream, UpstreamRequest, UpstreamResponse } from '../../upstream/request.ts';
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
  readonly call: CallUpstream;
  readonly mapping: Mapping;
  /** What $config stands for. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly limits: Pick<Limits, 'pageSize' | 'upstreamCalls'>;
  readonly signal: AbortSignal;
}

/** What one GraphQL operation shares: whose it is, the GETs already on their way, and the batches being gathered. */
export class Operation {
  readonly #options: OperationOptions;
  /** Filled from the verified token and nothing else. */
  readonly #context: Readonly<Record<string, unknown>>;
  /**
   * Rejects when the operation is aborted. graphql-js waits for every resolver before it gives what has arrived, so a
   * call that does not listen to the signal must not be waited for.
   */
  readonly #ended: Promise<never>;
  readonly #answers = new Map<string, Promise<UpstreamAnswer>>();
  readonly #batches = new Map<TypeMapping, Batch>();
  /** Errors with their places, for the answer's list: a field can throw one, and a GraphQL upstream have several there. */
  readonly alsoFailed: GraphQLError[] = [];
  /** An upstream says that the member must sign in again: then no answer is worth giving. */
  sessionOver: GatewayError | undefined;
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

  /** The most items a window may have. */
  get largestWindow(): number {
    return this.#options.limits.pageSize;
  }

  /** The scope of a mapping's texts: the given variables, and $context and $config, which nothing can overrule. */
  scope(variables: Scope = {}): Scope {
    return { ...variables, context: this.#context, config: this.#options.config };
  }

  /**
   * Asks a connector's upstream. Out: the answer's data; undefined when there is nothing (a 404, to one who reads). The
   * same reading call is made once in an operation. Throws AccountError.
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

  /** The fields a type's batch gives to the object with this key; undefined when the upstream has none for it. */
  fieldsOf(mapping: TypeMapping, key: unknown): Promise<Readonly<Record<string, unknown>> | undefined> {
    let batch = this.#batches.get(mapping);
    if (batch === undefined) {
      batch = new Batch(mapping, this);
      this.#batches.set(mapping, batch);
    }
    return batch.fieldsOf(key);
  }

  /** Posts an operation to a GraphQL upstream, as its @source says. Throws AccountError. */
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
      // A client's argument is the client's to mend; a member's own id never comes from one.
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
    let response: UpstreamResponse;
    try {
      response = await Promise.race([call({ ...request, principal, signal }), this.#ended]);
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code === 'session_over') this.sessionOver = thrown;
      if (signal.aborted) throw new AccountError('UPSTREAM_TIMEOUT', { cause: thrown });
      const code = thrown instanceof GatewayError ? FAILURES[thrown.code] : undefined;
      throw new AccountError(code ?? 'INTERNAL_SERVER_ERROR', { cause: thrown });
    }
    return { status: response.status, data: dataOf(response) };
  }
}

const GRAPHQL_HEADERS = {
  accept: 'application/graphql-response+json, application/json',
  'content-type': 'application/json',
} as const;

/** Whose value it was that could not go into a call. */
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

/** Out: null for an answer that has no body and needs none, undefined for one that is not JSON. */
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
