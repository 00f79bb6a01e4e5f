import { readPlainYaml } from '../../config/plain-yaml.ts';
import type { Voice } from '../../errors.ts';
import type { JsonObject } from '../../http/json-object.ts';
import { once } from '../../http/once.ts';
import { codePath, readInstalled } from '../../installation.ts';

export type MachineVoice = Exclude<Voice, 'page'>;

type Components = Readonly<Record<string, JsonObject>>;

/** components.yaml. */
export const writtenComponents = once(() => {
  const text = readInstalled(codePath('discovery/openapi/components.yaml')).toString('utf8');
  return readPlainYaml(text) as {
    readonly schemas: Readonly<Record<string, JsonObject & { readonly properties: JsonObject }>>;
    readonly responses: Components;
    readonly headers: Components;
    readonly failures: Readonly<Record<string, { readonly name: string; readonly text: string }>>;
  };
});

const VOICES: Readonly<Record<MachineVoice, { prefix: string; type: string; schema: string }>> = {
  oauth: { prefix: 'OAuth', type: 'application/json', schema: 'OAuthError' },
  problem: { prefix: 'Problem', type: 'application/problem+json', schema: 'Problem' },
  graphql: { prefix: 'Graphql', type: 'application/json', schema: 'GraphqlErrors' },
  jsonrpc: { prefix: 'JsonRpc', type: 'application/json', schema: 'JsonRpcError' },
};

/** Reference to a header field in `components`. */
function header(name: string): JsonObject {
  return { $ref: `#/components/headers/${name}` };
}

const REQUEST_ID = { 'X-Request-Id': header('RequestId') };
/** Header fields that report the remaining rate limit on protected routes. */
export const LEFT: JsonObject = { RateLimit: header('RateLimit'), 'RateLimit-Policy': header('RateLimitPolicy') };

function contentOf(type: string, schema: string): JsonObject {
  return { [type]: { schema: { $ref: `#/components/schemas/${schema}` } } };
}

/** Responses of the HTTP server, which every operation may give. */
export const UNREAD_RESPONSES: JsonObject = {
  417: responseRef('ExpectationFailed'),
  431: responseRef('FieldsTooLarge'),
};

/** Malformed URLs are refused in this format at every operation, whatever format its other errors have. */
const PROBLEM_CONTENT = contentOf('application/problem+json', 'Problem');

/** The failures of `components`, by name: each in every error format. */
export function failureResponses(): JsonObject {
  return Object.fromEntries(
    Object.values(VOICES).flatMap(({ prefix, type, schema }) =>
      Object.entries(writtenComponents().failures).map(([status, { name, text }]) => {
        const waits = status === '429' || status === '503';
        const headers = {
          ...REQUEST_ID,
          ...(waits ? { 'Retry-After': header('RetryAfter') } : {}),
          ...(status === '429' ? LEFT : {}),
        };
        const content = { ...contentOf(type, schema), ...(status === '400' ? PROBLEM_CONTENT : {}) };
        return [prefix + name, { description: text, headers, content }];
      }),
    ),
  );
}

/** Reference to a response in `components`. */
export function responseRef(name: string): JsonObject {
  return { $ref: `#/components/responses/${name}` };
}

/** Responses for failures in one error format, by status. */
export function failures(voice: MachineVoice, ...statuses: readonly number[]): JsonObject {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      responseRef(`${VOICES[voice].prefix}${writtenComponents().failures[status]?.name}`),
    ]),
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

/** A response with the header field that every response has; a reference as it is. */
export function withRequestId(response: JsonObject): JsonObject {
  if ('$ref' in response) return response;
  const { description, headers, ...rest } = response;
  return { description, headers: { ...REQUEST_ID, ...(headers as JsonObject | undefined) }, ...rest };
}

const ANYTHING: JsonObject = { headers: LEFT, content: { '*/*': {} } };

/** Responses of an upstream that no document describes. */
export const ANY_SUCCESS: JsonObject = {
  '2XX': withRequestId({ description: 'The response of the course site.', ...ANYTHING }),
};
export const ANY_RESPONSE: JsonObject = {
  default: withRequestId({ description: 'Any other response of the course site.', ...ANYTHING }),
};
