/** Part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** A schema of a JSON object with these properties. */
export function object(properties: Json, required: readonly string[] = [], rest: Json = {}): Json {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), ...rest };
}

export function text(description: string, rest: Json = {}): Json {
  return { type: 'string', ...rest, description };
}

export function uri(description: string): Json {
  return text(description, { format: 'uri' });
}

export function list(items: Json, description?: string): Json {
  return { type: 'array', items, ...(description === undefined ? {} : { description }) };
}

export function schemaRef(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** A required JSON request body with this schema of `components`. */
export function jsonBody(schema: string, example: Json): Json {
  return { required: true, content: { 'application/json': { schema: schemaRef(schema), example } } };
}

/** The `content` of a body with one media type. */
export function content(type: string, schema: Json): Json {
  return { [type]: { schema } };
}
