import { GatewayError } from '../../errors.ts';
import type { MemberPrincipal } from '../../oauth/principal.ts';
import type { CallUpstream, UpstreamResponse } from '../../upstream/request.ts';
import { AccountError, type AccountErrorCode } from '../errors.ts';
import type { Limits } from '../limits.ts';
import { Batch } from './batch.ts';
import type { Connector } from './connector.ts';
import type { Scope } from './evaluate.ts';
import { parseJson } from './json.ts';
import type { Mapping, TypeMapping } from './mapping.ts';
import { MappingValueError } from './methods.ts';
import { fillHeader, fillPath, fillQuery } from './template.ts';

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
  readonly #answers = new Map<string, Promise<unknown>>();
  readonly #batches = new Map<TypeMapping, Batch>();
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

  /** The scope of a mapping's texts: the given variables, and $context, which nothing can overrule. */
  scope(variables: Scope = {}): Scope {
    return { ...variables, context: this.#context };
  }

  /**
   * Asks a connector's upstream. Out: the answer's JSON, undefined for 404. The same GET is made once in an operation.
   * Throws AccountError.
   */
  async get(connector: Connector, scope: Scope): Promise<unknown> {
    const { path, headers } = this.#request(connector, scope);
    const key = JSON.stringify([connector.source, path, headers]);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const answer = this.#call(connector.source, path, headers);
    this.#answers.set(key, answer);
    return answer;
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

  #request({ source, path, query, headers, takesArguments }: Connector, scope: Scope) {
    try {
      const search = query === undefined ? '' : fillQuery(query(null, scope) as Record<string, unknown>);
      const all = [...(this.#options.mapping.sources.get(source) ?? []), ...headers];
      return {
        path: fillPath(path, scope) + search,
        headers: Object.fromEntries([
          ['accept', 'application/json'],
          ...all.map(([name, template]) => [name, fillHeader(template, scope)] as const),
        ]) as Readonly<Record<string, string>>,
      };
    } catch (thrown) {
      if (!(thrown instanceof MappingValueError)) throw thrown;
      // A client's argument is the client's to mend; a member's own id never comes from one.
      throw new AccountError(takesArguments ? 'BAD_USER_INPUT' : 'INTERNAL_SERVER_ERROR', { cause: thrown });
    }
  }

  async #call(upstream: string, path: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
    const { call, principal, signal, limits } = this.#options;
    this.#calls += 1;
    if (this.#calls > limits.upstreamCalls) throw new AccountError('REQUEST_LIMIT_EXCEEDED');
    let response: UpstreamResponse;
    try {
      response = await Promise.race([call({ upstream, method: 'GET', path, headers, principal, signal }), this.#ended]);
    } catch (thrown) {
      if (signal.aborted) throw new AccountError('UPSTREAM_TIMEOUT', { cause: thrown });
      const code = thrown instanceof GatewayError ? FAILURES[thrown.code] : undefined;
      throw new AccountError(code ?? 'INTERNAL_SERVER_ERROR', { cause: thrown });
    }
    if (response.status === 404) return undefined;
    // A redirect is how a legacy site says "sign in first"; it is never followed.
    if (response.status < 200 || response.status > 299) throw new AccountError('UPSTREAM_ERROR');
    try {
      return parseJson(response.body);
    } catch (cause) {
      throw new AccountError('UPSTREAM_BAD_RESPONSE', { cause });
    }
  }
}
