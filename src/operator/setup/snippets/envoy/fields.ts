import { IDENTITY_NAMES, type PluginPlan } from '../plugin-plan.ts';

/** The fields that a decision sets for the upstream. */
export const SET_BY_DECISIONS: readonly string[] = [
  ...IDENTITY_NAMES,
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-forwarded-port', 'x-real-ip', 'forwarded'],
  ...['x-request-id', 'traceparent', 'tracestate'],
];

/** What Envoy sends with each question. */
export function credentials({ fingerprint, decisions: { secret } }: PluginPlan): readonly object[] {
  const fields = [{ key: 'x-coursegate-config', value: fingerprint }];
  if (secret !== undefined) fields.push({ key: 'x-coursegate-secret', value: secret });
  return fields;
}

/** Fields of every response on a route: where the gate has no limits or CORS, they are missing. */
export const ALWAYS = [
  ...['x-request-id', 'ratelimit', 'ratelimit-policy', 'access-control-allow-origin', 'access-control-expose-headers'],
];

/** Fields that a refusal may have besides. */
export const REFUSAL_FIELDS = [
  ...['www-authenticate', 'retry-after', 'content-type', 'content-language', 'cache-control', 'allow'],
  ...['dpop-nonce', 'vary'],
];
