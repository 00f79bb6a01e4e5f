import type { IncomingMessage, ServerResponse } from 'node:http';
import { type DocumentNode, type GraphQLFormattedError, Kind } from 'graphql';
import type { TextFile } from '../config/account-files.ts';
import { type Answer, asGatewayError } from '../errors.ts';
import { challengeAnswer, json, writeAnswer } from '../http/answer.ts';
import { fieldValues } from '../http/field-values.ts';
import { type Challenge, insufficientScope, SESSION_OVER, type SessionOver } from '../oauth/challenge.ts';
import { type Scheme, schemeOf } from '../oauth/credentials.ts';
import type { MemberPrincipal } from '../oauth/principal.ts';
import type { CallForPrincipal } from '../upstream/request.ts';
import { Mistakes } from './connect/mistakes.ts';
import { Operation } from './connect/operation.ts';
import { costError, costMeter } from './cost.ts';
import { type Checked, documentChecker } from './documents.ts';
import { formatError, maskResult } from './errors.ts';
import { executeOperation } from './execution.ts';
import type { Limits } from './limits.ts';
import { mutationFields } from './mutation-fields.ts';
import { type OperationData, operationFacts, type PrepareOperation } from './prepared-operation.ts';
import { readFields } from './read-fields.ts';
import type { RecordedFile } from './remote/recorded.ts';
import { type GraphqlRequest, negotiate, type ResponseType, readGraphqlRequest } from './request.ts';
import { buildAccountSchema } from './schema.ts';
import { scopesMissingForMutation } from './scopes.ts';
import { readTrustedDocuments } from './trusted-documents.ts';

export interface AccountOptions {
  /** The contract: the schema that clients see. */
  readonly schema: readonly TextFile[];
  readonly mappings: readonly TextFile[];
  /** The recorded schemas of GraphQL upstreams. */
  readonly recorded?: readonly RecordedFile[];
  /** The names of the configured upstreams. */
  readonly upstreams: readonly string[];
  /** The upstreams that get one key for all members. */
  readonly keyed?: readonly string[] | undefined;
  /** The values of $config in mappings. The secret part is never sent to a client. */
  readonly config: {
    readonly open: Readonly<Record<string, string | number | boolean>>;
    readonly secret: Readonly<Record<string, string>>;
  };
  /** The configured scopes, which @requiresScopes may name. */
  readonly scopes: readonly string[];
  /** URL of the protected resource metadata, for challenges (RFC 9728 section 5.1). */
  readonly metadataUrl: string;
  readonly limits: Limits;
  readonly introspection: boolean;
  /** Trusted documents, which clients request by id. `only` refuses all others. */
  readonly documents: { readonly file: TextFile; readonly only: boolean } | undefined;
  readonly call: CallForPrincipal;
  /** Maximum size of a request body in bytes. */
  readonly bodyLimit: number;
  /** Seconds for a whole operation. The response then contains what has arrived by that time. */
  readonly deadline: number;
  /** Called with what is hidden from clients: unexpected errors, and why an upstream's answer could not be used. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Answers one POST of an admitted member. The gate has already checked the token, its audience and its scope. Resolves
 * to `session_over`, with nothing written, if the member's session at an upstream is over.
 * @param gave - called with the parts of the account that were returned or changed, as named by `readFields`
 */
export type AccountEndpoint = (
  request: IncomingMessage,
  response: ServerResponse,
  principal: MemberPrincipal,
  gave?: (fields: readonly string[]) => void,
  /** Called before the response is sent, with the fields of a mutation (joined by dots and commas) and its outcome. */
  changed?: (fields: string, outcome: 'success' | 'failure' | 'refused') => void,
) => Promise<SessionOver | undefined>;

interface Told {
  readonly gave: NonNullable<Parameters<AccountEndpoint>[3]>;
  readonly changed: NonNullable<Parameters<AccountEndpoint>[4]>;
}

export interface Account {
  readonly endpoint: AccountEndpoint;
  /** Prepares the operator's own documents, which tools run for a member under the rules of the endpoint. */
  readonly prepare: PrepareOperation;
}

const NO_STORE = { 'cache-control': 'no-store' };

/**
 * The Account API over HTTP (GraphQL over HTTP, POST and JSON only). Throws MappingError at start, with all mistakes in
 * the contract and the mapping files. The endpoint answers all failures itself.
 */
export function createAccountEndpoint(options: AccountOptions): AccountEndpoint {
  return createAccount(options).endpoint;
}

/** The same Account API, together with `prepare` for the operator's own documents. */
export function createAccount(options: AccountOptions): Account {
  const { call, deadline, onError = () => {} } = options;
  const { limits, introspection, metadataUrl } = options;
  const config = { ...options.config.open, ...options.config.secret };
  const account = buildAccountSchema(options.schema, options.mappings, {
    upstreams: options.upstreams,
    keyed: options.keyed,
    scopes: options.scopes,
    recorded: options.recorded ?? [],
    config: { open: Object.keys(options.config.open), secret: Object.keys(options.config.secret) },
  });
  const { schema, mapping, guards } = account;
  const check = documentChecker(schema, { limits, introspection });
  const trusted = readTrusted(options.documents, check);
  const costOf = costMeter(account, limits.pageSize);

  function find({ source, operationName, variables }: GraphqlRequest): Checked {
    if ('query' in source && trusted?.only === true) return refusedDocument('PERSISTED_DOCUMENT_REQUIRED');
    const text = 'query' in source ? source.query : trusted?.texts.get(source.documentId);
    if (text === undefined) return refusedDocument('PERSISTED_DOCUMENT_NOT_FOUND');
    return afford(check(text), operationName, variables);
  }

  function afford(
    checked: Checked,
    operationName: string | undefined,
    variables: GraphqlRequest['variables'],
  ): Checked {
    if (checked.document === undefined) return checked;
    const measured = costOf(checked.document, operationName, variables);
    if (measured === undefined || measured.cost <= limits.cost) return checked;
    const { cost, at } = measured;
    const details = { cost, limit: limits.cost };
    return { errors: [formatError(costError(cost, limits.cost, at), 'MAX_COST_EXCEEDED', undefined, details)] };
  }

  async function run(
    request: GraphqlRequest,
    type: ResponseType,
    { principal, scheme }: { readonly principal: MemberPrincipal; readonly scheme: Scheme },
    ended: AbortController,
    { gave, changed }: Told,
  ) {
    const checked = find(request);
    if (checked.document === undefined) return answer(type, false, { errors: checked.errors });
    const { scope } = principal;
    const lacking = scopesMissingForMutation(schema, guards, checked.document, request.operationName, scope);
    const mutation = mutationFields(checked.document, request.operationName);
    if (lacking !== undefined) {
      if (mutation !== undefined) changed(mutation, 'refused');
      return lacksScope(
        insufficientScope(scheme, { resource: { metadataUrl }, scopes: new Set(lacking) }, scope, LACKS),
      );
    }
    const result = await execute(checked.document, request, principal, ended);
    if (result === SESSION_OVER) return result;
    const { executed, body } = result;
    gave(readFields(checked.document, request.operationName, body.data as OperationData | null | undefined));
    if (mutation !== undefined) changed(mutation, 'errors' in body || !executed ? 'failure' : 'success');
    return answer(type, executed, body);
  }

  async function execute(
    document: DocumentNode,
    request: GraphqlRequest,
    principal: MemberPrincipal,
    ended: AbortController,
  ) {
    const late = new Error('The deadline of the operation has passed.');
    const timer = setTimeout(() => ended.abort(late), deadline * 1000);
    try {
      const { signal } = ended;
      const operation = new Operation({ principal, call, mapping, config, limits, signal });
      const result = await executeOperation({ schema, document, request, operation, signal });
      if (operation.sessionOver) return SESSION_OVER;
      return { executed: result.data !== undefined, body: maskResult(result, signal.aborted, onError) };
    } finally {
      clearTimeout(timer);
    }
  }

  const endpoint: AccountEndpoint = async (request, response, principal, gave = () => {}, changed = () => {}) => {
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
      const type = negotiate(request.headers.accept);
      if (type === undefined) finished = NOT_ACCEPTABLE;
      else {
        const caller = { principal, scheme: schemeOf(fieldValues(request, 'authorization')) };
        finished = await run(await readGraphqlRequest(request, options.bodyLimit), type, caller, ended, {
          gave,
          changed,
        });
      }
    } catch (thrown) {
      finished = failure(thrown, onError);
    }
    if (finished === SESSION_OVER) return finished;
    if (!left) writeAnswer(response, finished);
    return undefined;
  };

  const prepare: PrepareOperation = (query) => {
    const checked = check(query);
    if (checked.document === undefined) return { mistakes: checked.errors.map(({ message }) => message) };
    const { document } = checked;
    const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
    if (operations.length !== 1) return { mistakes: ['must have one operation'] };
    return {
      ...operationFacts(document, (granted) => scopesMissingForMutation(schema, guards, document, undefined, granted)),
      async run(principal, variables, signal) {
        const affordable = afford(checked, undefined, variables);
        if (affordable.document === undefined) return { data: undefined, errors: affordable.errors };
        const ended = new AbortController();
        signal.addEventListener('abort', () => ended.abort(signal.reason), { once: true });
        const request: GraphqlRequest = { source: { query }, operationName: undefined, variables };
        const result = await execute(document, request, principal, ended);
        if (result === SESSION_OVER) return result;
        const { data, errors = [] } = result.body as { data?: OperationData | null; errors?: GraphQLFormattedError[] };
        return { data: data ?? undefined, errors };
      },
    };
  };

  return { endpoint, prepare };
}

function readTrusted(documents: AccountOptions['documents'], check: ReturnType<typeof documentChecker>) {
  if (documents === undefined) return undefined;
  const mistakes = new Mistakes();
  const texts = readTrustedDocuments(documents.file, check, mistakes);
  mistakes.throwIfAny();
  return { texts, only: documents.only };
}

const DOCUMENT_REFUSALS = {
  PERSISTED_DOCUMENT_NOT_FOUND: 'There is no document of this id here.',
  PERSISTED_DOCUMENT_REQUIRED: 'Only documents that are known here are run: send documentId.',
} as const;

function refusedDocument(code: keyof typeof DOCUMENT_REFUSALS): Checked {
  return { errors: [{ message: DOCUMENT_REFUSALS[code], extensions: { code } }] };
}

const LACKS = 'the access token lacks a scope that is needed here';

/** Response to a mutation that the token does not cover. Nothing has run, so it can be a 403 (RFC 6750 section 3.1). */
function lacksScope(challenge: Challenge): Answer {
  return challengeAnswer(challenge, errorBody('Unauthorized field or type', 'UNAUTHORIZED_FIELD_OR_TYPE'));
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
