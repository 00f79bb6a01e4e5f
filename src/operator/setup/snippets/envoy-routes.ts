import { segmentsOf } from '../../../config/route-order.ts';
import type { GatePaths } from './gate-paths.ts';
import {
  CORS_RESPONSE_FIELDS,
  MEMBER_CACHE_CONTROL,
  type PluginOptions,
  type PluginRoute,
  type PluginUpstream,
  problemBody,
} from './plugin-options.ts';
import { UNUSUAL } from './plugin-paths.ts';

/** Entries of Envoy's route table, in JSON. The first one that matches counts. */
export function envoyRoutes({ paths, routes, largestBody }: PluginOptions): readonly string[] {
  const patterns = [...new Set(routes.map(({ pattern }) => pattern))];
  return [
    entry({ match: { prefix: '/', headers: [ODD_LENGTH] }, direct_response: { status: 400 }, ...UNASKED }),
    toGate({ safe_regex: { regex: gateExpression(paths) } }),
    toGate({ safe_regex: { regex: RESOLVED } }),
    ...(largestBody === undefined ? [] : patterns.map((pattern) => tooLarge(pattern, largestBody))),
    ...routes.flatMap(routeEntries),
    ...patterns.map((pattern) => toGate({ safe_regex: { regex: rawExpression(pattern) } })),
    entry({ match: { prefix: '/' }, route: { cluster: SITE, ...NO_LIMIT }, ...UNASKED }),
  ];
}

export const GATE = 'coursegate';
export const SITE = 'coursegate_site';
export const upstreamCluster = ({ id }: PluginUpstream): string => `coursegate_upstream_${id}`;

/** A body length with leading zeros, which Envoy would pass on as it is. */
const ODD_LENGTH = { name: 'content-length', string_match: { safe_regex: { regex: '0.+' } } };

/** Paths that two servers may read differently, whole. The gate judges them. */
export const RESOLVED = `(?is)(?:${UNUSUAL}).*`;

/** Event streams and uploads may take as long as something is sent now and then. */
const NO_LIMIT = { timeout: '0s', idle_timeout: '3600s' };

/** What the gate answers itself, and the site. */
const UNASKED = {
  typed_per_filter_config: {
    'envoy.filters.http.ext_authz': {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute',
      disabled: true,
    },
    'envoy.filters.http.lua': {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.lua.v3.LuaPerRoute',
      disabled: true,
    },
  },
};

function toGate(match: object): string {
  return entry({ match, route: { cluster: GATE, ...NO_LIMIT }, ...UNASKED });
}

function entry(given: object): string {
  return JSON.stringify(given);
}

/** Envoy does not tell coursegate the length of a body over HTTP, and has no limit for one that it does not hold. */
function tooLarge(pattern: string, most: number): string {
  const range_match = { start: most + 1, end: Number.MAX_SAFE_INTEGER };
  return entry({
    match: { safe_regex: { regex: rawExpression(pattern) }, headers: [{ name: 'content-length', range_match }] },
    direct_response: { status: 413, body: { inline_string: problemBody('payload_too_large', '') } },
    response_headers_to_add: Object.entries({
      'content-type': 'application/problem+json',
      ...CORS_RESPONSE_FIELDS,
    }).map(([key, value]) => ({ header: { key, value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' })),
    ...UNASKED,
  });
}

function routeEntries({ pattern, methods, upstream }: PluginRoute): readonly string[] {
  const method = {
    name: ':method',
    ...(methods === undefined
      ? { string_match: { exact: 'OPTIONS' }, invert_match: true }
      : { string_match: { safe_regex: { regex: methods.join('|') } } }),
  };
  const match = (...headers: readonly object[]) => ({
    safe_regex: { regex: rawExpression(pattern) },
    headers: [method, ...headers],
  });
  if (upstream === undefined) return [toGate(match())];
  const { host, hiddenFields, timeout } = upstream;
  const route = {
    cluster: upstreamCluster(upstream),
    host_rewrite_literal: host,
    ...NO_LIMIT,
    // Until the head of the response: afterwards it has no effect.
    retry_policy: { num_retries: 0, per_try_timeout: `${timeout}s` },
  };
  const answered = (name: string, value: string, append_action: string) => ({
    route,
    response_headers_to_remove: hiddenFields,
    response_headers_to_add: [{ header: { key: name, value }, append_action }],
  });
  return [
    // A member's request has an Authorization field.
    entry({
      match: match({ name: 'authorization', present_match: true }),
      ...answered('cache-control', MEMBER_CACHE_CONTROL, 'OVERWRITE_IF_EXISTS_OR_ADD'),
    }),
    entry({ match: match(), ...answered('vary', 'Authorization', 'APPEND_IF_EXISTS_OR_ADD') }),
  ];
}

/**
 * An expression for whole paths as they are sent: those of a pattern, and every spelling that a backend may take for
 * one (letter case, escaped characters, a final slash) and that is not `RESOLVED`. The gate refuses the latter.
 */
export function rawExpression(pattern: string): string {
  const segments = segmentsOf(pattern);
  const parts = segments.map((segment, at) => {
    if (segment === '**') return '(?:/.*)?';
    if (segment === '' && at === segments.length - 1) return '';
    return segment === '*' ? '/[^/]+' : `/${spelled(segment)}`;
  });
  return `(?i)${parts.join('')}${segments.at(-1) === '**' ? '' : '/?'}`;
}

/** An expression for all paths of the gate, in every such spelling. */
export function gateExpression({ exact, under, patterns }: GatePaths): string {
  const spelledOut = [...exact, ...under.map((path) => `${path}**`)].map((path) =>
    rawExpression(path).slice('(?i)'.length),
  );
  return `(?i)${[...spelledOut, ...patterns.map(inAscii)].join('|')}`;
}

/** For the same pattern, only the spelling that the gate admits, in characters that no gateway takes for others. */
export function canonicalExpression(pattern: string): string {
  const parts = segmentsOf(pattern).map((segment) => {
    if (segment === '**') return `(?:/${PLAIN}*)?`;
    return segment === '*'
      ? `/${PLAIN.replace('/', '')}+`
      : `/${inAscii(segment).replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`;
  });
  return parts.join('');
}

/** A pattern with `*` for every segment that is not fixed. */
export function wildcards(pattern: string): string {
  return `/${segmentsOf(pattern).join('/')}`;
}

const PLAIN = "[A-Za-z0-9._~%!$&'()+,:@/-]";

function spelled(segment: string): string {
  const decoded = decodeURIComponent(segment);
  return [...decoded].map((one) => (one > '\x7F' ? encodeURIComponent(one) : character(one))).join('');
}

/** An ASCII character, or its escape; for a letter, the escape of either case. */
function character(one: string): string {
  const codes = [...new Set([one.toLowerCase(), one.toUpperCase()])].map((each) => each.charCodeAt(0).toString(16));
  const literal = /[\w-]/.test(one) ? one : `\\x{${one.charCodeAt(0).toString(16)}}`;
  return `(?:${[literal, ...codes.map((code) => `%${code}`)].join('|')})`;
}

/** What is beyond ASCII in an expression, as it is escaped in paths. */
export function inAscii(expression: string): string {
  return expression.replace(/[^\x20-\x7E]+/g, encodeURIComponent);
}
