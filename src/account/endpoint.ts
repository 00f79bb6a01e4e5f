import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, asGatewayError, GatewayError } from '../errors.ts';
import { challengeAnswer, json, writeAnswer } from '../http/answer.ts';
import type { Handler } from '../http/exchange.ts';
import { fieldValues } from '../http/field-values.ts';
import { areaOf } from '../http/request-record.ts';
import { insufficientScope, SESSION_OVER, type SessionOver } from '../oauth/challenge.ts';
import { type Scheme, schemeOf } from '../oauth/credentials.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import { ACCOUNT_SCOPE, type Scope } from '../oauth/scope.ts';
import { type Audit, usageAudit } from '../operations/audit.ts';
import type { AccountOptions } from './account-options.ts';
import { timeWarnings } from './connect/time-warnings.ts';
import { createOperations, execute, findDocument, type Operations, prepareOperation } from './operations.ts';
import type { OperationData } from './prepared-operation.ts';
import { mutationFields, readFields } from './read-fields.ts';
import { negotiate, type ResponseType, readGraphqlRequest } from './request.ts';
import { scopesMissingForMutation, scopesOfQueries } from './scopes.ts';

/** Receives what the operator's logs record about an operation. Called before the response is sent. */
interface Observer {
  /** Called with the parts of the account that were returned or changed, as named by `readFields`. */
  readonly gave: (fields: readonly string[], how: 'read' | 'change') => void;
  /** Called with the fields of a mutation, comma-separated, and its outcome. */
  readonly changed: (fields: string, outcome: 'success' | 'failure' | 'refused', reason?: 'role') => void;
}

/**
 * Answers one POST of an admitted member. The gate has already checked the token, its audience and its scope. Resolves
 * to `session_over`, with nothing written, if the member's session at an upstream is over.
 */
export type AccountEndpoint = (
  request: IncomingMessage,
  response: ServerResponse,
  principal: MemberPrincipal,
  observer?: Partial<Observer>,
) => Promise<SessionOver | undefined>;

export type Account = ReturnType<typeof createAccount>;

const NO_STORE = { 'cache-control': 'no-store' };

/**
 * The Account API over HTTP (GraphQL over HTTP, POST and JSON only). The endpoint answers all failures itself.
 *
 * @throws {MappingError} with all mistakes in the contract, the mapping files or the trusted documents
 */
export function createAccount(options: AccountOptions) {
  const operations = createOperations(options);
  const endpoint: AccountEndpoint = (request, response, principal, observer = {}) =>
    serve(operations, request, response, principal, observer);
  return {
    endpoint,
    /** Prepares the operator's own documents, which tools run for a member under the rules of the endpoint. */
    prepare: (query: string) => prepareOperation(operations, query),
    /** The scopes that a token needs to read everything. */
    readScopes: [ACCOUNT_SCOPE, ...scopesOfQueries(operations, operations.guards)],
    /** What in the mapping is allowed but most likely unintended. */
    warnings: timeWarnings(operations.mapping, options.timeZone),
  };
}

/** Serves the endpoint behind the gate. Records which parts of the account were read, and audits mutations. */
export function accountHandler(endpoint: AccountEndpoint, audit: Audit): Handler {
  return (exchange) => {
    const { request, response, principal, record } = exchange;
    if (principal.kind !== 'member') throw new GatewayError('internal');
    return endpoint(request, response, principal, {
      gave(fields, how) {
        record.areas = fields.map(how === 'read' ? areaOf.field : areaOf.change);
      },
      changed: usageAudit(audit, exchange, 'mutation'),
    });
  };
}

async function serve(
  operations: Operations,
  request: IncomingMessage,
  response: ServerResponse,
  principal: MemberPrincipal,
  observer: Partial<Observer>,
): Promise<SessionOver | undefined> {
  const ended = new AbortController();
  let left = false;
  response.once('close', () => {
    // The response also closes after every complete answer, and even an abort without effect costs as much as a small
    // query.
    if (response.writableFinished) return;
    left = true;
    ended.abort();
  });
  let finished: Answer | SessionOver;
  try {
    finished = await answerTo(operations, request, principal, ended, observer);
  } catch (thrown) {
    finished = failure(thrown, operations.options.onError);
  }
  if (finished === SESSION_OVER) return finished;
  if (!left) writeAnswer(response, finished);
  return undefined;
}

async function answerTo(
  operations: Operations,
  request: IncomingMessage,
  principal: MemberPrincipal,
  ended: AbortController,
  { gave, changed }: Partial<Observer>,
): Promise<Answer | SessionOver> {
  const { schema, guards, options } = operations;
  const type = negotiate(request.headers.accept);
  if (type === undefined) return NOT_ACCEPTABLE;
  const asked = await readGraphqlRequest(request, options.bodyLimit);
  const checked = findDocument(operations, asked);
  const { document } = checked;
  if (document === undefined) return answer(type, false, { errors: checked.errors });
  const lacking = scopesMissingForMutation(schema, guards, document, asked.operationName, principal.scope);
  const mutation = mutationFields(document, asked.operationName);
  if (lacking !== undefined) {
    if (mutation !== undefined) changed?.(mutation, 'refused');
    const scheme = schemeOf(fieldValues(request.rawHeaders, 'authorization'));
    return lacksScope(scheme, options.metadataUrl, lacking, principal.scope);
  }
  const result = await execute(operations, document, asked, principal, ended);
  if (result === SESSION_OVER) return result;
  const { executed, withoutRole, body } = result;
  gave?.(
    readFields(document, asked.operationName, body.data as OperationData | null | undefined),
    mutation === undefined ? 'read' : 'change',
  );
  if (mutation !== undefined && withoutRole) changed?.(mutation, 'refused', 'role');
  else if (mutation !== undefined) changed?.(mutation, 'errors' in body || !executed ? 'failure' : 'success');
  return answer(type, executed, body);
}

/** Response to a mutation that the token does not cover. Nothing has run, so it can be a 403 (RFC 6750 section 3.1). */
function lacksScope(scheme: Scheme, metadataUrl: string, lacking: readonly string[], granted: Scope): Answer {
  const requested = { resource: { metadataUrl }, scopes: new Set(lacking) };
  const description = 'the access token lacks a scope that is needed here';
  return challengeAnswer(
    insufficientScope(scheme, requested, granted, description),
    errorBody('Unauthorized field or type', 'UNAUTHORIZED_FIELD_OR_TYPE'),
  );
}

/** Executed operations get a 200, refused ones a 400 in the newer media type only (GraphQL over HTTP section 6.4). */
function answer(type: ResponseType, executed: boolean, body: object): Answer {
  const status = executed || type === 'application/json' ? 200 : 400;
  return json(status, body, { ...NO_STORE, 'content-type': `${type}; charset=utf-8` });
}

const NOT_ACCEPTABLE = json(
  406,
  errorBody('This address answers application/graphql-response+json or application/json.', 'NOT_ACCEPTABLE'),
  NO_STORE,
);

/** A failure before GraphQL began, in the form of a GraphQL response. */
function failure(thrown: unknown, onError: AccountOptions['onError']): Answer {
  const { code, status, message, headers } = asGatewayError(thrown);
  if (code === 'internal') {
    onError?.(thrown);
    return json(500, errorBody('Unexpected error.', 'INTERNAL_SERVER_ERROR'), NO_STORE);
  }
  return json(status, errorBody(message, code.toUpperCase()), { ...headers, ...NO_STORE });
}

function errorBody(message: string, code: string): object {
  return { errors: [{ message, extensions: { code } }] };
}
