import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from 'graphql';

const MESSAGES = {
  UNAUTHORIZED_FIELD_OR_TYPE: 'Unauthorized field or type',
  REQUEST_LIMIT_EXCEEDED: 'The operation makes too many calls. Ask for less at once.',
  NOT_FOUND: 'There is nothing of this id.',
  BAD_USER_INPUT: 'An argument has a value that cannot be used.',
  UPSTREAM_TIMEOUT: 'The service behind this field took too long to answer.',
  UPSTREAM_UNAVAILABLE: 'The service behind this field cannot be reached.',
  UPSTREAM_ERROR: 'The service behind this field answered with an error.',
  UPSTREAM_BAD_RESPONSE: 'The service behind this field gave an answer that cannot be used.',
  INTERNAL_SERVER_ERROR: 'Unexpected error.',
} as const;

/** What a client may read in an error's extensions.code, apart from the codes of a refused document or request. */
export type AccountErrorCode = keyof typeof MESSAGES;

/** An error a resolver means the client to see: a code of ours and its text. The cause is for the log only. */
export class AccountError extends Error {
  readonly code: AccountErrorCode;
  /** What the client may read in `extensions` beside the code. */
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

/** A hundred failing rows are one failure; the rest is counted, not listed. */
const MOST_ERRORS = 100;

/**
 * An execution's result as it may leave the house. In: the result, whether the deadline cut it short, and where to
 * report what the operator should know. Only graphql-js's own words about the client's request and AccountErrors pass;
 * whatever else happened while a value was brought into the contract's shape is the upstream's fault, and unsaid.
 */
export function maskResult(
  result: ExecutionResult,
  deadlinePassed: boolean,
  onError: (error: unknown) => void,
): Record<string, unknown> {
  const { data, errors } = result;
  const body: Record<string, unknown> = {};
  if (errors !== undefined && errors.length > 0) {
    body.errors = errors.slice(0, MOST_ERRORS).map((error) => formatMasked(error, deadlinePassed, onError));
    if (errors.length > MOST_ERRORS) body.extensions = { errorsLeftOut: errors.length - MOST_ERRORS };
  }
  if (data !== undefined) body.data = data;
  return body;
}

function formatMasked(error: GraphQLError, deadlinePassed: boolean, onError: (error: unknown) => void) {
  const { originalError } = error;
  if (originalError instanceof AccountError) {
    if (originalError.code === 'INTERNAL_SERVER_ERROR' || originalError.code === 'UPSTREAM_BAD_RESPONSE') {
      onError(originalError.cause ?? originalError);
    }
    return formatError(error, originalError.code, originalError.message, originalError.details);
  }
  // graphql-js on the request itself: a variable and the choice of the operation have no path, a directive's argument
  // is a node of the client's document.
  const ofRequest = error.path === undefined || (originalError instanceof GraphQLError && originalError.nodes != null);
  if (ofRequest) return formatError(error, 'BAD_USER_INPUT', error.message);
  if (deadlinePassed) return formatError(error, 'UPSTREAM_TIMEOUT', MESSAGES.UPSTREAM_TIMEOUT);
  onError(originalError);
  return formatError(error, 'UPSTREAM_BAD_RESPONSE', MESSAGES.UPSTREAM_BAD_RESPONSE);
}

/** One error in the wire form of the GraphQL specification §7.1.2, with a code. */
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
