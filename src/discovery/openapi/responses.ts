import type { Voice } from '../../errors.ts';
import type { JsonObject } from '../../http/json-object.ts';
import { content, schemaRef } from './json.ts';

type MachineVoice = Exclude<Voice, 'page'>;

const FAILURES = {
  400: { name: 'BadRequest', text: 'The request is malformed or invalid.' },
  401: { name: 'InvalidClient', text: 'The client is unknown, or client authentication failed.' },
  403: { name: 'NotAllowed', text: 'This request is not allowed.' },
  404: { name: 'NotFound', text: 'Nothing was found at this URL.' },
  406: { name: 'NotAcceptable', text: 'No representation matches the Accept header.' },
  413: { name: 'PayloadTooLarge', text: 'The request body is larger than this endpoint allows.' },
  414: { name: 'UriTooLong', text: 'The URL is longer than 8,192 characters.' },
  415: {
    name: 'UnsupportedMediaType',
    text: 'The content type or content encoding of the request body is not supported.',
  },
  429: { name: 'TooManyRequests', text: 'Too many requests. Try again after Retry-After seconds.' },
  500: { name: 'InternalError', text: 'An unexpected error. Please report it with the request ID.' },
  502: { name: 'BadGateway', text: 'The upstream service returned no usable response.' },
  503: { name: 'Unavailable', text: 'Temporarily unavailable. Try again after Retry-After seconds.' },
  504: { name: 'GatewayTimeout', text: 'The upstream service took too long to respond.' },
} as const;

export type FailureStatus = keyof typeof FAILURES;

const VOICES: Readonly<Record<MachineVoice, { prefix: string; type: string; schema: string }>> = {
  oauth: { prefix: 'OAuth', type: 'application/json', schema: 'OAuthError' },
  problem: { prefix: 'Problem', type: 'application/problem+json', schema: 'Problem' },
  graphql: { prefix: 'Graphql', type: 'application/json', schema: 'GraphqlErrors' },
  jsonrpc: { prefix: 'JsonRpc', type: 'application/json', schema: 'JsonRpcError' },
};

/** The header field of a redirect. */
export const LOCATION = {
  Location: { description: 'The target.', required: true, schema: { type: 'string', format: 'uri-reference' } },
} as const;

/** Reference to a header field in `components`. */
export function header(name: string): JsonObject {
  return { $ref: `#/components/headers/${name}` };
}

const REQUEST_ID = { 'X-Request-Id': header('RequestId') };
const RATE_LIMIT = { RateLimit: header('RateLimit'), 'RateLimit-Policy': header('RateLimitPolicy') };

/** Header fields that several responses share. */
export const HEADERS: JsonObject = {
  RequestId: { description: 'The ID of this request, as in the logs.', required: true, schema: { type: 'string' } },
  RetryAfter: {
    description: 'Seconds to wait (RFC 9110 section 10.2.3).',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  RateLimit: optional('The remaining requests, and the seconds until the limit resets: `"member";r=1199;t=60`.'),
  RateLimitPolicy: optional(
    'The limit: the number of requests, and the length of the window in seconds: `"member";q=1200;w=60`.',
  ),
  Challenge: {
    description:
      'The challenge (RFC 6750 section 3) with `error`, `error_description`, `resource_metadata` (RFC 9728 section 5.1) and `scope`.',
    required: true,
    schema: { type: 'string', pattern: '^(Bearer|DPoP) ' },
  },
  MaybeChallenge: optional('The scopes that are needed (RFC 6750 section 3.1). Absent if no token would be accepted.'),
  ETag: optional('The version of the document (RFC 9110 section 8.8.3).'),
};

function optional(description: string): JsonObject {
  return { description, schema: { type: 'string' } };
}

/** Refusals by the gate, which are the same at every protected route. */
const REFUSALS: Readonly<Record<string, JsonObject>> = {
  Unauthorized: challenged(
    'The access token is missing or invalid (RFC 6750 section 3.1, `invalid_token`). The header has the URL of the metadata.',
  ),
  Forbidden: challenged(
    'The token is valid but lacks a scope (RFC 6750 section 3.1, `insufficient_scope`). The header names the scopes to request.',
  ),
  RouteForbidden: {
    description:
      'With WWW-Authenticate: the token is valid but lacks the scope that the header names. Without it: the record belongs to another member, or the course site itself refuses, with a body of its own.',
    headers: { ...REQUEST_ID, 'WWW-Authenticate': header('MaybeChallenge') },
    content: {
      ...content('application/json', {
        anyOf: [schemaRef('OAuthError'), { description: 'The response of the course site.' }],
      }),
      ...content('application/problem+json', schemaRef('Problem')),
      '*/*': {},
    },
  },
};

function challenged(description: string): JsonObject {
  const challenge = { 'WWW-Authenticate': header('Challenge') };
  return answer(description, content('application/json', schemaRef('OAuthError')), challenge);
}

/** Refusals by the HTTP server before it reads a request: without a body and without a request id. */
const UNREAD: Readonly<Record<string, JsonObject>> = {
  ExpectationFailed: { description: 'The Expect header has a value other than 100-continue.' },
  FieldsTooLarge: { description: 'The header is larger than 16 KiB, or has more than 2,000 fields.' },
};

/** Responses of the HTTP server, which every operation may give. */
export const UNREAD_RESPONSES: JsonObject = {
  417: responseRef('ExpectationFailed'),
  431: responseRef('FieldsTooLarge'),
};

/** Malformed URLs are refused in this format at every operation, whatever format its other errors have. */
const PROBLEM_CONTENT = content('application/problem+json', schemaRef('Problem'));

/** All responses for `components`, by name. */
export const RESPONSES: JsonObject = {
  ...REFUSALS,
  ...UNREAD,
  ...Object.fromEntries(
    (Object.keys(VOICES) as MachineVoice[]).flatMap((voice) =>
      Object.entries(FAILURES).map(([status, { name, text }]) => {
        const { prefix, type, schema } = VOICES[voice];
        const waits = status === '429' || status === '503';
        const headers = {
          ...REQUEST_ID,
          ...(waits ? { 'Retry-After': header('RetryAfter') } : {}),
          ...(status === '429' ? RATE_LIMIT : {}),
        };
        const own = content(type, schemaRef(schema));
        const both = status === '400' ? { ...own, ...PROBLEM_CONTENT } : own;
        return [prefix + name, { description: text, headers, content: both }];
      }),
    ),
  ),
};

/** Reference to a response in `components`. */
export function responseRef(name: string): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}

/** Responses for failures in one error format, by status. */
export function failures(voice: MachineVoice, ...statuses: readonly FailureStatus[]): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => [status, responseRef(VOICES[voice].prefix + FAILURES[status].name)]),
  );
}

/**
 * Adds the responses that any request may get before its operation is known: malformed URL or Host (400), URL too long
 * (414), and requests the HTTP server refuses to read (417, 431).
 */
export function withEveryRequest(responses: JsonObject): JsonObject {
  const own = responses[400] as JsonObject | undefined;
  const malformed =
    own === undefined || '$ref' in own
      ? (own ?? responseRef('ProblemBadRequest'))
      : { ...own, content: { ...(own.content as JsonObject), ...PROBLEM_CONTENT } };
  return { ...responses, 400: malformed, ...failures('problem', 414), ...UNREAD_RESPONSES };
}

/** A response with an optional body, and with the header fields that every response has. */
export function answer(description: string, body?: JsonObject, headers: JsonObject = {}): JsonObject {
  return { description, headers: { ...REQUEST_ID, ...headers }, ...(body === undefined ? {} : { content: body }) };
}

/** Header fields that report the remaining rate limit on protected routes. */
export const LEFT: JsonObject = RATE_LIMIT;

const ANYTHING: JsonObject = { '*/*': {} };

/** Responses of an upstream that no document describes. */
export const ANY_SUCCESS: JsonObject = { '2XX': answer('The response of the course site.', ANYTHING, LEFT) };
export const ANY_RESPONSE: JsonObject = { default: answer('Any other response of the course site.', ANYTHING, LEFT) };
