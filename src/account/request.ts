import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { GatewayError, invalidRequest } from '../errors.ts';
import { mediaType, readBody } from '../http/body.ts';
import { type JsonBounds, JsonTooLarge, parseBoundedJson } from '../http/bounded-json.ts';
import { isObject, type JsonObject } from '../http/json-object.ts';

/**
 * The parameters of one GraphQL request, with checked types (GraphQL over HTTP section 5.1, and appendix A for
 * documentId).
 */
export interface GraphqlRequest {
  /** The document itself, or the id of a trusted document. */
  readonly source: { readonly query: string } | { readonly documentId: string };
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

const MEDIA_TYPES = ['application/graphql-response+json', 'application/json'] as const;
/**
 * The media type of the response. It also decides the status of a refused document: 400, or 200 for application/json.
 */
export type ResponseType = (typeof MEDIA_TYPES)[number];

/**
 * Chooses the media type of the response (RFC 9110 section 12.5.1, GraphQL over HTTP section 6.1). Without a
 * preference: application/json, which every client knows.
 * @param accept - the Accept field
 * @returns undefined if the client accepts neither type
 */
export function negotiate(accept: string | undefined): ResponseType | undefined {
  if (accept === undefined || accept.trim() === '') return 'application/json';
  const best = new Map<ResponseType, { readonly quality: number; readonly exactness: number }>();
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    const quality = qualityOf(parameters);
    for (const candidate of MEDIA_TYPES) {
      const exactness = type === candidate ? 2 : type === 'application/*' ? 1 : type === '*/*' ? 0 : -1;
      if (exactness > (best.get(candidate)?.exactness ?? -1)) best.set(candidate, { quality, exactness });
    }
  }
  let chosen: ResponseType | undefined;
  let chosenRank = 0;
  for (const [candidate, { quality, exactness }] of best) {
    if (quality === 0) continue;
    // At equal quality, prefer the type that the client spelled out. If it spelled out both, prefer the newer type; if
    // both match a wildcard, the older one.
    const rank = quality * 10 + exactness + ((candidate === MEDIA_TYPES[0]) === (exactness === 2) ? 0.5 : 0);
    if (rank > chosenRank) [chosen, chosenRank] = [candidate, rank];
  }
  return chosen;
}

function qualityOf(parameters: readonly string[]): number {
  const value = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (value === undefined) return 1;
  return /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 0;
}

/**
 * Reads a GraphQL request from a POST. Throws GatewayError: `unsupported_media_type` unless it is application/json in
 * UTF-8, `payload_too_large`, or `invalid_request` with what is wrong with the body.
 * @param limit - maximum body size in bytes
 */
export async function readGraphqlRequest(request: IncomingMessage, limit: number): Promise<GraphqlRequest> {
  const contentType = request.headers['content-type'];
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType ?? '')?.[1]?.toLowerCase();
  if (
    mediaType(contentType) !== 'application/json' ||
    (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')
  )
    throw new GatewayError('unsupported_media_type', {
      message: 'The request body must be application/json in UTF-8.',
    });
  const body = parseBody(await readBody(request, limit));
  if (Array.isArray(body)) throw invalidRequest('Operations are not taken in batches: send one JSON object.');
  if (!isObject(body)) throw invalidRequest('The request body must be a JSON object.');
  const operationName = optional(body, 'operationName', isString, 'a string');
  const variables = optional(body, 'variables', isObject, 'an object');
  return { source: sourceOf(body), operationName, variables };
}

/** A parameter that may be missing or null. */
function optional<T>(
  body: JsonObject,
  name: string,
  fits: (value: unknown) => value is T,
  what: string,
): T | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || fits(value)) return value;
  throw invalidRequest(`The parameter ${name} must be ${what}.`);
}

/** Persisted documents are requested by documentId, or by Apollo's extension with the SHA-256 of the text. */
function sourceOf(body: JsonObject): GraphqlRequest['source'] {
  const extensions = optional(body, 'extensions', isObject, 'an object');
  const query = optional(body, 'query', isString, 'a string');
  const documentId = optional(body, 'documentId', isString, 'a string');
  const persisted = extensions?.persistedQuery;
  const hash = isObject(persisted) ? persisted.sha256Hash : undefined;
  if (hash != null && (typeof hash !== 'string' || !/^[0-9a-f]{64}$/i.test(hash)))
    throw invalidRequest('extensions.persistedQuery.sha256Hash must be 64 hexadecimal digits.');
  const named = documentId ?? (typeof hash === 'string' ? `sha256:${hash.toLowerCase()}` : undefined);
  if (query === undefined) {
    if (named === undefined) throw invalidRequest('The parameter query must be a string.');
    return { documentId: named };
  }
  if (documentId !== undefined) throw invalidRequest('Send query or documentId, not both.');
  if (named !== undefined && named !== `sha256:${createHash('sha256').update(query).digest('hex')}`)
    throw invalidRequest('extensions.persistedQuery.sha256Hash is not that of the query.');
  return { query };
}

/** A document is a single string. Variables contain the values of a form, or a list of ids. */
const BOUNDS: JsonBounds = { depth: 64, values: 10_000, names: 1000 };

function parseBody(bytes: Buffer): unknown {
  try {
    return parseBoundedJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes), BOUNDS);
  } catch (cause) {
    if (cause instanceof JsonTooLarge) throw invalidRequest(`The request body ${cause.message}.`);
    throw new GatewayError('invalid_request', { message: 'The request body is not JSON.', cause });
  }
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}
