import {
  CORS_RESPONSE_FIELDS,
  MEMBER_CACHE_CONTROL,
  type PluginPlan,
  type PluginRoute,
  type PluginUpstream,
  problemBody,
} from '../plugin-plan.ts';
import { gateExpression, RESOLVED, rawExpression } from '../raw-paths.ts';
import { fieldsSet } from './connection-manager.ts';

/** Envoy's route table. The first entry that matches counts. */
export function envoyRoutes({ paths, routes, routePatterns: patterns, largestBody }: PluginPlan): readonly object[] {
  return [
    { match: { prefix: '/', headers: [ODD_LENGTH] }, direct_response: { status: 400 }, ...UNASKED },
    toGate({ safe_regex: { regex: gateExpression(paths) } }),
    toGate({ safe_regex: { regex: RESOLVED } }),
    ...(largestBody === undefined ? [] : patterns.map((pattern) => tooLarge(pattern, largestBody))),
    ...routes.flatMap(routeEntries),
    ...patterns.map((pattern) => toGate({ safe_regex: { regex: rawExpression(pattern) } })),
    { match: { prefix: '/' }, route: { cluster: SITE, ...NO_LIMIT }, ...UNASKED },
  ];
}

export const GATE = 'coursegate';
export const SITE = 'coursegate_site';
export const upstreamCluster = ({ id }: PluginUpstream): string => `coursegate_upstream_${id}`;

/** A body length with leading zeros, which Envoy would pass on as it is. */
const ODD_LENGTH = { name: 'content-length', string_match: { safe_regex: { regex: '0.+' } } };

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

function toGate(match: object): object {
  return { match, route: { cluster: GATE, ...NO_LIMIT }, ...UNASKED };
}

/** Envoy does not tell coursegate the length of a body over HTTP, and has no limit for one that it does not hold. */
function tooLarge(pattern: string, most: number): object {
  const range_match = { start: most + 1, end: Number.MAX_SAFE_INTEGER };
  return {
    match: { safe_regex: { regex: rawExpression(pattern) }, headers: [{ name: 'content-length', range_match }] },
    direct_response: { status: 413, body: { inline_string: problemBody('payload_too_large', '') } },
    response_headers_to_add: fieldsSet({ 'content-type': 'application/problem+json', ...CORS_RESPONSE_FIELDS }),
    ...UNASKED,
  };
}

function routeEntries({ pattern, methods, upstream }: PluginRoute): readonly object[] {
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
    {
      match: match({ name: 'authorization', present_match: true }),
      ...answered('cache-control', MEMBER_CACHE_CONTROL, 'OVERWRITE_IF_EXISTS_OR_ADD'),
    },
    { match: match(), ...answered('vary', 'Authorization', 'APPEND_IF_EXISTS_OR_ADD') },
  ];
}
