import { RE2JS } from 're2js';
import { z } from 'zod';
import { configJsonSchema, type JsonSchema } from '../../src/config/json-schema.ts';
import { chartValues } from './chart-values.ts';

/** Values that the chart fills in by default. */
const FILLED_IN = ['version', 'store'];

/**
 * Returns the JSON Schema of the chart's values, including that of the gate's configuration, and the rules that more than
 * one replica needs Redis and a secret. Helm validates with it before rendering.
 */
export function chartSchema(): JsonSchema {
  const { $schema, properties = {}, ...rest } = z.toJSONSchema(chartValues, { target: 'draft-2020-12' }) as JsonSchema;
  const { $schema: _, title: __, required = [], ...configuration } = configJsonSchema();
  const config = {
    ...(forHelm(configuration) as JsonSchema),
    required: required.filter((key) => !FILLED_IN.includes(key)),
    description: properties.config?.description,
  };
  return {
    $schema,
    title: 'values of the coursegate chart',
    ...rest,
    properties: { ...properties, config },
    required: ['config'],
    allOf: [
      implies({ anyOf: [has('replicas', { minimum: 2 }), has('autoscaling', SWITCHED_ON)] }, ON_REDIS),
      implies(ON_REDIS, { anyOf: [has('secret', NAMED), has('config', has('secret', {}))] }),
    ],
  };
}

/** `if` and `then`; not written as a literal, which would be an object to await. */
const implies = (condition: JsonSchema, consequence: JsonSchema): JsonSchema =>
  Object.fromEntries([
    ['if', condition],
    ['then', consequence],
  ]);

const has = (key: string, schema: JsonSchema): JsonSchema => ({ properties: { [key]: schema }, required: [key] });

const SWITCHED_ON = has('enabled', { const: true });
const NAMED = has('existingSecret', { minLength: 1 });
const ON_REDIS: JsonSchema = {
  anyOf: [
    has('config', has('store', has('kind', { const: 'redis' }))),
    { allOf: [has('redis', NAMED), { properties: { config: { not: { required: ['store'] } } } }] },
  ],
};

/**
 * Helm's validator uses Go's regular expressions, and one pattern with a look-ahead would invalidate the whole schema. The
 * gate checks such patterns itself.
 */
function forHelm(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(forHelm);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).filter(([key, value]) => key !== 'pattern' || isRe2(value));
  return Object.fromEntries(entries.map(([key, value]) => [key, forHelm(value)]));
}

function isRe2(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return true;
  try {
    RE2JS.compile(pattern);
    return true;
  } catch {
    return false;
  }
}
