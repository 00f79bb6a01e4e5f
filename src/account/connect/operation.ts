import type { GraphQLError } from 'graphql';
import { GatewayError } from '../../errors.ts';
import { mediaType } from '../../http/body.ts';
import { SESSION_OVER, type SessionOver } from '../../oauth/challenge.ts';
import { detailsOf } from '../../oauth/member-details.ts';
import type { MemberPrincipal } from '../../oauth/principal.ts';
import { LINES, resultLine } from '../../upstream/answer-lines.ts';
import type { OnLine } from '../../upstream/body-lines.ts';
import type { CallForPrincipal, UpstreamRequest, UpstreamResponse } from '../../upstream/request.ts';
import { AccountError, type AccountErrorCode } from '../errors.ts';
import type { AccountLimits } from '../settings.ts';
import { createBatch } from './batch.ts';
import type { Connector } from './connector.ts';
import { filledHeaders, JSON_ONLY, requestOf } from './connector-request.ts';
import type { VariableValues } from './evaluate.ts';
import { parseJson } from './json.ts';
import type { Mapping, TypeMapping } from './mapping.ts';
import { type UpstreamAnswer, usableData } from './response-rules.ts';
import { unusable } from './window.ts';
import { newWork } from './work.ts';

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
  readonly limits: Pick<AccountLimits, 'pageSize' | 'upstreamCalls'>;
  readonly signal: AbortSignal;
  /** Takes the lines of an answer in which a REST upstream reports progress. */
  readonly onLine?: OnLine | undefined;
}

/** The state of one GraphQL operation: its member, the GET requests already sent, and the batches being collected. */
export class AccountOperation {
  readonly #options: OperationOptions;
  /** The value of $context. It comes only from the verified token. */
  readonly #context: Readonly<Record<string, unknown>>;
  /**
   * Rejects when the operation is aborted. graphql-js waits for every resolver before it returns partial results, so
   * resolvers must not wait for a call that ignores the signal.
   */
  readonly #ended: Promise<never>;
  readonly #answers = new Map<string, Promise<UpstreamAnswer>>();
  readonly #batches = new Map<TypeMapping, ReturnType<typeof createBatch>>();
  /** Further errors for the response: a field can only throw one, but a GraphQL upstream can return several for it. */
  readonly alsoFailed: GraphQLError[] = [];
  /** Set when an upstream says that the member's session is over: the whole request then fails. */
  sessionOver = false;
  /** Set when a field was refused because the member lacks a role. */
  withoutRole = false;
  #calls = 0;

  constructor(options: OperationOptions) {
    const { sub, details } = options.principal;
    this.#options = options;
    this.#context = Object.freeze({ sub, ...detailsOf(details) });
    this.#ended = abortOf(options.signal);
  }

  get principal(): MemberPrincipal {
    return this.#options.principal;
  }

  /** Largest number of items in a window. */
  get largestWindow(): number {
    return this.#options.limits.pageSize;
  }

  /** The variables of a mapping's texts: those given, plus $context and $config, which cannot be overridden. */
  variables(given: VariableValues = {}): VariableValues {
    const { config, mapping } = this.#options;
    return { ...given, context: this.#context, config, timeZone: mapping.timeZone, work: newWork() };
  }

  /**
   * Calls a connector's upstream and returns the response's data; undefined when there is nothing (a 404 to a read). With
   * `each`, the list of the data of all calls. An identical read is made only once per operation.
   *
   * @throws {AccountError} when a call fails or is refused
   * @throws {MappingValueError} when the response, or `each`, does not fit the mapping
   */
  async request(connector: Connector, variables: VariableValues): Promise<unknown> {
    const { each, source } = connector;
    if (each === undefined) return await this.#requestOne(connector, variables);
    const items = each(null, variables);
    if (items === null) return undefined;
    if (!Array.isArray(items)) throw unusable(source, 'each is not a list');
    // Refused before the first call rather than after the last that is allowed.
    if (items.length > this.#options.limits.upstreamCalls) throw new AccountError('REQUEST_LIMIT_EXCEEDED');
    return await Promise.all(
      items.map(async (item) => {
        return item === null ? null : ((await this.#requestOne(connector, { ...variables, each: item })) ?? null);
      }),
    );
  }

  async #requestOne(connector: Connector, variables: VariableValues): Promise<unknown> {
    const source = this.#options.mapping.sources.get(connector.source);
    const request = requestOf(connector, source?.headers ?? [], variables);
    const answer = await (connector.writes ? this.#call(request) : this.#callOnce(request));
    const rules = source === undefined ? [connector.response] : [connector.response, source.response];
    return usableData(connector, rules, answer, variables);
  }

  /** The batched fields of the object with this key; undefined when the upstream has none for it. */
  fieldsOf(mapping: TypeMapping, key: unknown): Promise<Readonly<Record<string, unknown>> | undefined> {
    const batch = this.#batches.get(mapping) ?? createBatch(mapping, this);
    this.#batches.set(mapping, batch);
    return batch.fieldsOf(key);
  }

  /** Posts an operation to a GraphQL upstream with the settings of its @source. @throws {AccountError} */
  async post(source: string, operation: object): Promise<UpstreamAnswer> {
    const mapping = this.#options.mapping.sources.get(source);
    if (mapping?.graphql === undefined) throw new Error(`${source} speaks no GraphQL`);
    const variables = this.variables();
    return await this.#call({
      upstream: source,
      method: 'POST',
      path: mapping.graphql.path,
      headers: { ...filledHeaders(mapping.headers, variables), ...GRAPHQL_HEADERS },
      body: JSON.stringify(operation),
    });
  }

  #callOnce(request: UpstreamRequest): Promise<UpstreamAnswer> {
    const key = JSON.stringify(request);
    const answer = this.#answers.get(key) ?? this.#call(request);
    this.#answers.set(key, answer);
    return answer;
  }

  async #call(request: UpstreamRequest): Promise<UpstreamAnswer> {
    const { call, principal, signal, limits, onLine } = this.#options;
    const accept = request.headers?.accept;
    const headers = onLine && accept === JSON_ONLY ? { ...request.headers, accept: `${LINES}, ${accept}` } : undefined;
    this.#calls += 1;
    if (this.#calls > limits.upstreamCalls) throw new AccountError('REQUEST_LIMIT_EXCEEDED');
    let response: UpstreamResponse | SessionOver;
    try {
      response = await Promise.race([
        call({ ...request, ...(headers && { headers, onLine }), principal, signal }),
        this.#ended,
      ]);
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

/** Rejects when the signal aborts. */
function abortOf(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  promise.catch(() => {});
  return promise;
}

const GRAPHQL_HEADERS = {
  accept: 'application/graphql-response+json, application/json',
  'content-type': 'application/json',
} as const;

/** The response's data: null if it has no body and needs none, undefined if it is not JSON. */
function dataOf({ status, headers, body }: UpstreamResponse): unknown {
  if (body === '') return status === 204 || status === 205 ? null : undefined;
  try {
    return parseJson(mediaType(headers['content-type']) === LINES ? resultLine(body) : body);
  } catch {
    return undefined;
  }
}
