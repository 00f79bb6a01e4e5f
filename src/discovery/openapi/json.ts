/** A part of an OpenAPI document, as data. */
export type Json = Readonly<Record<string, unknown>>;

/** A JSON object schema. In: its properties by name, and which of them are always there. */
export function object(properties: Json, required: readonly string[] = [], rest: Json = {}): Json {
  return { type: 'object', properties, ...(required.length === 0 ? {} : { required }), ...rest };
}

/** A string schema. */
export function text(description: string, rest: Json = {}): Json {
  return { type: 'string', ...rest, description };
}

/** A string schema of a URI. */
export function uri(description: string): Json {
  return text(description, { format: 'uri' });
}

export function list(items: Json, description?: string): Json {
  return { type: 'array', items, ...(description === undefined ? {} : { description }) };
}

export function schemaRef(name: string): Json {
  return { $ref: `#/components/schemas/${name}` };
}

/** `content` of one media type. */
export function content(type: string, schema: Json): Json {
  return { [type]: { schema } };
}
