import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, asGatewayError } from '../errors.ts';
import { json, writeAnswer } from '../http/answer.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import type { CallUpstream } from '../upstream/request.ts';
import type { MappingFile } from './connect/mapping.ts';
import { Operation } from './connect/operation.ts';
import { documentChecker } from './documents.ts';
import { maskResult } from './errors.ts';
import { executeOperation } from './execution.ts';
import { type GraphqlRequest, negotiate, type ResponseType, readGraphqlRequest } from './request.ts';
import { buildAccountSchema } from './schema.ts';

export interface AccountOptions {
  /** The contract: what clients see. */
  readonly schemaText: string;
  readonly mappings: readonly MappingFile[];
  /** The names of the configured upstreams. */
  readonly upstreams: readonly string[];
  readonly call: CallUpstream;
  /** Bytes of a request body. */
  readonly bodyLimit: number;
  /** Seconds for a whole operation; what has arrived by then is served. */
  readonly deadline: number;
  /** Told what a client is not: unexpected errors, and why an upstream's answer could not be used. */
  readonly onError?: (error: unknown) => void;
}

/** Answers one POST of an admitted member. The gate in front has judged the token, its audience and its scope. */
export type AccountEndpoint = (
  request: IncomingMessage,
  response: ServerResponse,
  principal: MemberPrincipal,
) => Promise<void>;

const NO_STORE = { 'cache-control': 'no-store' };

/**
 * The Account API over HTTP (GraphQL over HTTP, POST and JSON only). Throws MappingError at start, with every mistake of
 * the contract and the mapping files. The endpoint itself never rejects.
 */
export function createAccountEndpoint(options: AccountOptions): AccountEndpoint {
  const { call, deadline, onError = () => {} } = options;
  const { schema, mapping } = buildAccountSchema(options.schemaText, options.mappings, options.upstreams);
  const check = documentChecker(schema);

  async function run(request: GraphqlRequest, type: ResponseType, principal: MemberPrincipal, left: AbortSignal) {
    const checked = check(request.query);
    if (checked.document === undefined) return answer(type, false, { errors: checked.errors });
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error('The deadline of the operation has passed.')), deadline * 1000);
    try {
      const signal = AbortSignal.any([late.signal, left]);
      const operation = new Operation({ principal, call, mapping, signal });
      const result = await executeOperation({ schema, document: checked.document, request, operation, signal });
      return answer(type, result.data !== undefined, maskResult(result, signal.aborted, onError));
    } finally {
      clearTimeout(timer);
    }
  }

  return async (request, response, principal) => {
    const left = new AbortController();
    response.once('close', () => left.abort());
    let finished: Answer;
    try {
      const type = negotiate(request.headers.accept);
      if (type === undefined) finished = NOT_ACCEPTABLE;
      else finished = await run(await readGraphqlRequest(request, options.bodyLimit), type, principal, left.signal);
    } catch (thrown) {
      finished = failure(thrown, onError);
    }
    if (!left.signal.aborted) writeAnswer(response, finished);
  };
}

/** What reached execution is 200; what was refused is 400, in the newer media type only (GraphQL over HTTP §6.4). */
function answer(type: ResponseType, executed: boolean, body: object): Answer {
  const status = executed || type === 'application/json' ? 200 : 400;
  return json(status, body, { ...NO_STORE, 'content-type': `${type}; charset=utf-8` });
}

const NOT_ACCEPTABLE = json(
  406,
  errorBody('This address answers application/graphql-response+json or application/json.', 'NOT_ACCEPTABLE'),
  NO_STORE,
);

/** A failure before GraphQL began, in its voice. */
function failure(thrown: unknown, onError: (error: unknown) => void): Answer {
  const { code, status, message, headers } = asGatewayError(thrown);
  if (code === 'internal') {
    onError(thrown);
    return json(500, errorBody('Unexpected error.', 'INTERNAL_SERVER_ERROR'), NO_STORE);
  }
  return json(status, errorBody(message, code.toUpperCase()), { ...headers, ...NO_STORE });
}

function errorBody(message: string, code: string): object {
  return { errors: [{ message, extensions: { code } }] };
}
