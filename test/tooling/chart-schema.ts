import { RE2JS } from 're2js';
import { z } from 'zod';
import { configJsonSchema, type JsonSchema } from '../../src/config/json-schema.ts';
import { chartValues } from './chart-values.ts';

/** Required keys for which the chart provides a default. */
const FILLED_IN = ['version', 'store'];

/**
 * The JSON Schema of the chart's values, including that of the gate's configuration, and the rule that several replicas
 * need Redis and a secret. Helm validates values with it before it renders the templates.
 */
export function chartSchema(): JsonSchema {
  const { $schema, properties = {}, ...rest } = z.toJSONSchema(chartValues, { target: 'draft-2020-12' }) as JsonSchema;
  const { $schema: _, title: __, if: ___, else: whole, ...configuration } = configJsonSchema();
  const config = {
    ...(forHelm(configuration) as JsonSchema),
    description: properties.config?.description,
  };
  return {
    $schema,
    title: 'values of the coursegate chart',
    ...rest,
    properties: {
      ...properties,
      config,
      // A school may set a part of any key and have the rest from a file that it extends, so only the names are known here.
      schools: {
        ...properties.schools,
        additionalProperties: { type: 'object', propertyNames: { enum: Object.keys(configuration.properties ?? {}) } },
      },
    },
    required: ['config'],
    allOf: [
      {
        if: { anyOf: [has('schools', { minProperties: 1 }), has('config', { required: ['schools'] })] },
        else: has('config', { required: whole?.required?.filter((key) => !FILLED_IN.includes(key)) ?? [] }),
      },
      implies({ anyOf: [has('replicas', { minimum: 2 }), has('autoscaling', SWITCHED_ON)] }, ON_SHARED_STORE),
      implies(ON_SHARED_STORE, { anyOf: [has('secret', NAMED), has('config', has('secret', {}))] }),
    ],
  };
}

/** A schema with `if` and `then`. Not an object literal, because an object with a `then` property looks like a thenable. */
const implies = (condition: JsonSchema, consequence: JsonSchema): JsonSchema =>
  Object.fromEntries([
    ['if', condition],
    ['then', consequence],
  ]);

const has = (key: string, schema: JsonSchema): JsonSchema => ({ properties: { [key]: schema }, required: [key] });

const SWITCHED_ON = has('enabled', { const: true });
const NAMED = has('existingSecret', { minLength: 1 });
const ON_SHARED_STORE: JsonSchema = {
  anyOf: [
    has('config', has('store', has('kind', { enum: ['redis', 'postgres', 'mysql'] }))),
    { allOf: [has('redis', NAMED), { properties: { config: { not: { required: ['store'] } } } }] },
  ],
};

/**
 * Removes patterns that Go's regular expressions do not support, such as look-aheads: with one of them, Helm could not use
 * the schema at all. The gate checks them anyway when it loads the configuration.
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
