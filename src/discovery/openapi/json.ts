import type { JsonObject } from '../../http/json-object.ts';

/** A schema of a JSON object with these properties. */
export function object(properties: JsonObject, required: readonly string[] = [], rest: JsonObject = {}): JsonObject {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), ...rest };
}

export function text(description: string, rest: JsonObject = {}): JsonObject {
  return { type: 'string', ...rest, description };
}

export function uri(description: string): JsonObject {
  return text(description, { format: 'uri' });
}

export function list(items: JsonObject, description?: string): JsonObject {
  return { type: 'array', items, ...(description === undefined ? {} : { description }) };
}

export function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** A required JSON request body with this schema of `components`. */
export function jsonBody(schema: string, example: JsonObject): JsonObject {
  return { required: true, content: { 'application/json': { schema: schemaRef(schema), example } } };
}

/** The `content` of a body with one media type. */
export function content(type: string, schema: JsonObject): JsonObject {
  return { [type]: { schema } };
}
