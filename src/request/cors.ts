import { PAGE_FIELDS } from '../http/header-names.ts';
import type { Incoming } from './incoming.ts';
import { isObserved, type RequestParts } from './parts.ts';

export const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'WWW-Authenticate, X-Request-Id, DPoP-Nonce, Retry-After, RateLimit, RateLimit-Policy, Deprecation, Sunset, ETag, Link, Location, Mcp-Session-Id, MCP-Protocol-Version',
} as const;

/** The same as names and values in turn. */
export const CORS_FIELDS: readonly string[] = Object.entries(CORS_HEADERS).flat();

/** Answers a CORS preflight for a route that pages of other origins may call. Returns whether the request was one. */
export function answerPreflight(parts: RequestParts, { request, response, target, record }: Incoming): boolean {
  const { path } = target;
  const method = request.headers['access-control-request-method'];
  if (method === undefined) return false;
  const found = parts.routing(method, path);
  if (found.kind !== 'route' || !found.route.value.cors) return false;
  // A page that asks to send no token of ours belongs to the site, which has its own rules.
  const fields = request.headers['access-control-request-headers'] ?? '';
  if (isObserved(parts, method, path) && !/\b(authorization|dpop)\b/i.test(fields)) return false;
  response.writeHead(204, {
    'x-request-id': record.provenance.requestId,
    ...CORS_HEADERS,
    'access-control-allow-methods': found.route.methods?.join(', ') ?? method,
    'access-control-allow-headers': [...PAGE_FIELDS, ...(found.route.value.pageFields ?? [])].join(', '),
    'access-control-max-age': '3600',
  });
  response.end();
  return true;
}
