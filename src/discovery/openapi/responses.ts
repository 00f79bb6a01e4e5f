import type { Voice } from '../../errors.ts';
import { content, type Json, schemaRef } from './json.ts';

type MachineVoice = Exclude<Voice, 'page'>;

const FAILURES = {
  400: { name: 'BadRequest', text: 'The request is not well formed, or is refused for what it says.' },
  401: { name: 'InvalidClient', text: 'The client is not known here, or did not prove that it is the one.' },
  403: { name: 'NotAllowed', text: 'This request is not allowed.' },
  404: { name: 'NotFound', text: 'There is nothing at this address.' },
  406: { name: 'NotAcceptable', text: 'The answer has no form that the request takes.' },
  413: { name: 'PayloadTooLarge', text: 'The request body is larger than this address takes.' },
  414: { name: 'UriTooLong', text: 'The address is longer than 8192 characters.' },
  415: { name: 'UnsupportedMediaType', text: 'The request body has a content type or coding that is not taken.' },
  429: { name: 'TooManyRequests', text: 'There were too many requests. Try again after Retry-After seconds.' },
  500: { name: 'InternalError', text: 'Something went wrong on our side. Tell us the request id.' },
  502: { name: 'BadGateway', text: 'The service behind this address gave no answer that can be used.' },
  503: { name: 'Unavailable', text: 'Not available right now. Try again after Retry-After seconds.' },
  504: { name: 'GatewayTimeout', text: 'The service behind this address took too long to answer.' },
} as const;

export type FailureStatus = keyof typeof FAILURES;

const VOICES: Readonly<Record<MachineVoice, { prefix: string; type: string; schema: string }>> = {
  oauth: { prefix: 'OAuth', type: 'application/json', schema: 'OAuthError' },
  problem: { prefix: 'Problem', type: 'application/problem+json', schema: 'Problem' },
  graphql: { prefix: 'Graphql', type: 'application/json', schema: 'GraphqlErrors' },
  jsonrpc: { prefix: 'JsonRpc', type: 'application/json', schema: 'JsonRpcError' },
};

/** Reference to a header field in `components`. */
export function header(name: string): Json {
  return { $ref: `#/components/headers/${name}` };
}

const REQUEST_ID = { 'X-Request-Id': header('RequestId') };
const RATE_LIMIT = { RateLimit: header('RateLimit'), 'RateLimit-Policy': header('RateLimitPolicy') };

/** Header fields that several responses share. */
export const HEADERS: Json = {
  RequestId: { description: 'The id of this request in our logs.', required: true, schema: { type: 'string' } },
  RetryAfter: {
    description: 'Seconds to wait (RFC 9110 §10.2.3).',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  RateLimit: {
    description: 'What is left of the limit and when it is whole again: `"member";r=1199;t=60`.',
    schema: { type: 'string' },
  },
  RateLimitPolicy: {
    description: 'The limit: requests, and in how many seconds: `"member";q=1200;w=60`.',
    schema: { type: 'string' },
  },
  Challenge: {
    description:
      'Why, and what would do (RFC 6750 §3): `error`, `error_description`, `resource_metadata` (RFC 9728 §5.1), `scope`.',
    required: true,
    schema: { type: 'string', pattern: '^(Bearer|DPoP) ' },
  },
  MaybeChallenge: {
    description: 'Where a token with more scope would do: which (RFC 6750 §3.1). Absent where no token would.',
    schema: { type: 'string' },
  },
  ETag: { description: 'The version of the document (RFC 9110 §8.8.3).', schema: { type: 'string' } },
};

const CHALLENGE_CONTENT = content('application/json', schemaRef('OAuthError'));

/** Refusals by the gate, which are the same at every protected route. */
const REFUSALS: Readonly<Record<string, Json>> = {
  Unauthorized: {
    description:
      'There is no access token, or one that is not valid here (RFC 6750 §3.1 `invalid_token`). The header field says where the metadata is.',
    headers: { ...REQUEST_ID, 'WWW-Authenticate': header('Challenge') },
    content: CHALLENGE_CONTENT,
  },
  Forbidden: {
    description:
      'The token is valid and lacks a scope (RFC 6750 §3.1 `insufficient_scope`). The header field names the scopes to ask for.',
    headers: { ...REQUEST_ID, 'WWW-Authenticate': header('Challenge') },
    content: CHALLENGE_CONTENT,
  },
  RouteForbidden: {
    description:
      'With WWW-Authenticate: the token is valid and lacks a scope, which the field names. Without: the record is that of another member, or the school itself says no, in its own words.',
    headers: { ...REQUEST_ID, 'WWW-Authenticate': header('MaybeChallenge') },
    content: {
      ...content('application/json', { anyOf: [schemaRef('OAuthError'), { description: 'The words of the school.' }] }),
      ...content('application/problem+json', schemaRef('Problem')),
      '*/*': {},
    },
  },
};

/** Refusals by the HTTP server before it reads a request: without a body and without a request id. */
const UNREAD: Readonly<Record<string, Json>> = {
  ExpectationFailed: { description: 'The Expect field asks for something other than 100-continue.' },
  FieldsTooLarge: { description: 'The header fields are larger than 16 KiB, or more than 2000.' },
};

/** Responses of the HTTP server, which every operation may give. */
export const UNREAD_RESPONSES: Json = { 417: responseRef('ExpectationFailed'), 431: responseRef('FieldsTooLarge') };

/** Malformed URLs are refused in this format at every operation, whatever format its other errors have. */
const PROBLEM_CONTENT = content('application/problem+json', schemaRef('Problem'));

/** All responses for `components`, by name. */
export const RESPONSES: Json = {
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
export function responseRef(name: string): Json {
  return { $ref: `#/components/responses/${name}` };
}

/** Responses for failures in one error format, by status. */
export function failures(voice: MachineVoice, ...statuses: readonly FailureStatus[]): Json {
  return Object.fromEntries(
    statuses.map((status) => [status, responseRef(VOICES[voice].prefix + FAILURES[status].name)]),
  );
}

/**
 * Adds the responses that any request may get before its operation is known: malformed URL or Host (400), URL too long
 * (414), and requests the HTTP server refuses to read (417, 431).
 */
export function withEveryRequest(responses: Json): Json {
  const own = responses[400] as Json | undefined;
  const malformed =
    own === undefined || '$ref' in own
      ? (own ?? responseRef('ProblemBadRequest'))
      : { ...own, content: { ...(own.content as Json), ...PROBLEM_CONTENT } };
  return {
    ...responses,
    400: malformed,
    ...failures('problem', 414),
    ...UNREAD_RESPONSES,
  };
}

/** A response with an optional body, and with the header fields that every response has. */
export function answer(description: string, body?: Json, headers: Json = {}): Json {
  return { description, headers: { ...REQUEST_ID, ...headers }, ...(body === undefined ? {} : { content: body }) };
}

/** Header fields that report the remaining rate limit on protected routes. */
export const LEFT: Json = RATE_LIMIT;
