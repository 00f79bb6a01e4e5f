import { type ExecutionResult, GraphQLError, type GraphQLFormattedError, type GraphQLOutputType } from 'graphql';
import { MappingValueError } from './connect/mapping-value.ts';

const MESSAGES = {
  UNAUTHORIZED_FIELD_OR_TYPE: 'Unauthorized field or type',
  REQUEST_LIMIT_EXCEEDED: 'The operation makes too many upstream calls. Request fewer fields at once.',
  NOT_FOUND: 'Nothing with this ID exists.',
  BAD_USER_INPUT: 'An argument has an invalid value.',
  UPSTREAM_TIMEOUT: 'The service behind this field took too long to respond.',
  UPSTREAM_UNAVAILABLE: 'The service behind this field is unavailable.',
  UPSTREAM_ERROR: 'The service behind this field returned an error.',
  UPSTREAM_BAD_RESPONSE: 'The service behind this field returned an invalid response.',
  INTERNAL_SERVER_ERROR: 'Unexpected error.',
} as const;

/** The values of an error's extensions.code, except those for a refused document or request. */
export type AccountErrorCode = keyof typeof MESSAGES;

/** An error that a resolver shows to the client, with a code and a message. The cause goes to the log only. */
export class AccountError extends Error {
  readonly code: AccountErrorCode;
  /** Further entries of `extensions` besides the code. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: AccountErrorCode,
    options: {
      readonly message?: string;
      readonly cause?: unknown;
      readonly details?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(options.message ?? MESSAGES[code], { cause: options.cause });
    this.name = 'AccountError';
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Errors listed in a response; further ones are only counted, since a hundred failing rows usually have one cause. */
const MOST_ERRORS = 100;

/** How graphql-js begins to say that a non-null field has no value. */
const NULL = /^Cannot return null for non-nullable field /;

/** Receives what the operator should know about a failed field. `where` names the field and its place in a mapping. */
export type OnError = (error: unknown, where?: string) => void;

/** A field of the contract that failed. */
export interface FailedField {
  /**
   * Its type and name, the place in a mapping that says where it comes from, and what that reads:
   * `Course.endsAt (school.graphql:12, ends_at in GET /courses of school)`.
   */
  readonly where: string;
  readonly type: GraphQLOutputType;
}

interface Masking {
  readonly deadlinePassed: boolean;
  readonly failedField: (error: GraphQLError) => FailedField | undefined;
  readonly onError: OnError;
}

/**
 * Masks the errors of an execution's result for the client. Only messages of graphql-js about the client's request and
 * AccountErrors pass. Any other error occurred while completing a value, so it is the upstream's fault, and its message
 * is hidden.
 */
export function maskResult(result: ExecutionResult, given: Masking): Record<string, unknown> {
  const { data, errors } = result;
  const body: Record<string, unknown> = {};
  const masking = { ...given, onError: onceEach(given.onError) };
  if (errors !== undefined && errors.length > 0) {
    body.errors = errors.slice(0, MOST_ERRORS).map((error) => formatMasked(error, masking));
    if (errors.length > MOST_ERRORS) body.extensions = { errorsLeftOut: errors.length - MOST_ERRORS };
  }
  if (data !== undefined) body.data = data;
  return body;
}

/** A mapping that is wrong fails in every row of a list. */
function onceEach(onError: OnError): OnError {
  const reported = new Set<string>();
  return (error, where) => {
    const key = `${where}: ${error instanceof Error ? error.message : error}`;
    if (!reported.has(key)) onError(error, where);
    reported.add(key);
  };
}

function formatMasked(error: GraphQLError, { deadlinePassed, failedField, onError }: Masking) {
  const { originalError } = error;
  if (originalError instanceof AccountError) {
    if (originalError.code === 'INTERNAL_SERVER_ERROR' || originalError.code === 'UPSTREAM_BAD_RESPONSE')
      onError(originalError.cause ?? originalError, failedField(error)?.where);
    return formatError(error, originalError.code, originalError.message, originalError.details);
  }
  // Errors of graphql-js about the request itself: those about variables and the choice of the operation have no path,
  // those about a directive's argument have a node of the client's document.
  const ofRequest = error.path === undefined || (originalError instanceof GraphQLError && originalError.nodes != null);
  if (ofRequest) return formatError(error, 'BAD_USER_INPUT', error.message);
  if (deadlinePassed) return formatError(error, 'UPSTREAM_TIMEOUT', MESSAGES.UPSTREAM_TIMEOUT);
  const field = failedField(error);
  // What graphql-js says about a value may quote it, and it is the member's. Of null it says no more than the type does.
  const isNull = NULL.test(error.message);
  const ofValue = isNull || originalError === undefined || originalError instanceof GraphQLError;
  const problem = `the value is ${isNull ? 'null, not' : 'not'} ${field?.type ?? 'valid'}`;
  onError(ofValue ? new MappingValueError(problem) : originalError, field?.where);
  return formatError(error, 'UPSTREAM_BAD_RESPONSE', MESSAGES.UPSTREAM_BAD_RESPONSE);
}

/** Formats an error for the response, with a code in `extensions` (GraphQL specification section 7.1.2). */
export function formatError(
  error: GraphQLError,
  code: string,
  message: string = error.message,
  details: Readonly<Record<string, unknown>> = {},
): GraphQLFormattedError {
  return {
    message,
    ...(error.locations === undefined ? {} : { locations: error.locations }),
    ...(error.path === undefined ? {} : { path: error.path }),
    extensions: { code, ...details },
  };
}
