import { isObject, type JsonObject } from '../../../http/json-object.ts';
import { isInternal, type Source, texts } from './source.ts';

/**
 * Keywords whose value is copied verbatim. Keywords not listed here are dropped: extensions, `$id`, and anything that
 * is not JSON Schema.
 */
const VALUES = [
  ...['type', 'enum', 'const', 'format', 'default', 'example', 'examples', 'pattern', 'required', 'dependentRequired'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains', 'minProperties', 'maxProperties'],
  ...['readOnly', 'writeOnly', 'deprecated', 'contentMediaType', 'contentEncoding'],
];
const SCHEMAS = ['items', 'not', 'if', 'then', 'else', 'contains', 'propertyNames', 'contentSchema'];
const OPEN_OR_SCHEMA = ['additionalProperties', 'unevaluatedItems', 'unevaluatedProperties'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];

const COMPONENT = /^#\/components\/schemas\/([A-Za-z0-9._-]+)$/;

/** Copies schemas from another document, with all schemas they reference. */
export type SchemaCopy = ReturnType<typeof schemaCopy>;

/**
 * `nameOf` maps a schema's name to its name in our document. A reference that leads out of the source document becomes
 * a schema that allows anything.
 */
export function schemaCopy(source: Source, nameOf: (name: string) => string) {
  const { schemas = {} } = isObject(source.document.components) ? source.document.components : {};
  const known = isObject(schemas) ? schemas : {};
  const met = new Set<string>();
  const waiting: string[] = [];

  const refer = (name: string): string => {
    const here = nameOf(name);
    if (!met.has(here)) {
      met.add(here);
      waiting.push(name);
    }
    return `#/components/schemas/${here}`;
  };

  const copy = (schema: unknown): JsonObject => {
    if (!isObject(schema)) return {};
    if (schema.$ref !== undefined) {
      const [, name] = COMPONENT.exec(String(schema.$ref)) ?? [];
      if (name === undefined || !Object.hasOwn(known, name)) return texts(schema, 'description');
      return { $ref: refer(name), ...(source.isOld ? {} : texts(schema, 'description')) };
    }
    const out: Record<string, unknown> = { ...texts(schema, 'title', 'description') };
    for (const keyword of VALUES) if (Object.hasOwn(schema, keyword)) out[keyword] = schema[keyword];
    for (const keyword of SCHEMAS) if (isObject(schema[keyword])) out[keyword] = copy(schema[keyword]);
    for (const keyword of OPEN_OR_SCHEMA) {
      const value = schema[keyword];
      if (typeof value === 'boolean') out[keyword] = value;
      else if (isObject(value)) out[keyword] = copy(value);
    }
    for (const keyword of LISTS) {
      const value = schema[keyword];
      if (Array.isArray(value) && value.length > 0) out[keyword] = value.map(copy);
    }
    for (const keyword of MAPS) {
      const value = schema[keyword];
      if (!isObject(value)) continue;
      const shown = Object.entries(value).filter(([, one]) => !isObject(one) || !isInternal(one));
      out[keyword] = Object.fromEntries(shown.map(([name, one]) => [name, copy(one)]));
      if (keyword !== 'properties' || shown.length === Object.keys(value).length) continue;
      const kept = new Set(shown.map(([name]) => name));
      without(out, new Set(Object.keys(value).filter((name) => !kept.has(name))));
    }
    return source.isOld ? asJsonSchema(out, schema) : out;
  };

  return {
    schema: copy,
    /** The schemas that were referenced since the last call, directly or by one another, by their names in our document. */
    referred(): Readonly<Record<string, JsonObject>> {
      const found: [string, JsonObject][] = [];
      for (let name = waiting.pop(); name !== undefined; name = waiting.pop())
        found.push([nameOf(name), copy(known[name])]);
      return Object.fromEntries(found);
    },
  };
}

/** Removes properties from an object schema. */
export function withoutProperties(schema: JsonObject, names: (name: string) => boolean): JsonObject {
  if (!isObject(schema.properties)) return schema;
  const hidden = new Set(Object.keys(schema.properties).filter(names));
  const properties = Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names(name)));
  return without({ ...schema, properties }, hidden);
}

function without(schema: Record<string, unknown>, hidden: ReadonlySet<string>): JsonObject {
  if (!Array.isArray(schema.required)) return schema;
  const left = schema.required.filter((name) => !hidden.has(String(name)));
  if (left.length > 0) schema.required = left;
  else delete schema.required;
  return schema;
}

/** Converts OpenAPI 3.0's own keywords for null and exclusive bounds to JSON Schema. */
function asJsonSchema(out: Record<string, unknown>, { nullable }: JsonObject): JsonObject {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (out[exclusive] === true && typeof out[bound] === 'number') {
      out[exclusive] = out[bound];
      delete out[bound];
    } else delete out[exclusive];
  }
  if (nullable !== true) return out;
  if (Array.isArray(out.enum) && !out.enum.includes(null)) out.enum = [...out.enum, null];
  if (typeof out.type === 'string') return { ...out, type: [out.type, 'null'] };
  return Object.keys(out).length === 0 ? out : { anyOf: [out, { type: 'null' }] };
}
