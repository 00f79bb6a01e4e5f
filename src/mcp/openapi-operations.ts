import { valueAt } from '../config/tree.ts';
import { isObject, type JsonObject, listOf } from '../http/json-object.ts';
import { resolved } from '../http/json-pointer.ts';
import { openApiBasePath } from '../http/openapi-base-path.ts';

export interface OperationInput {
  readonly name: string;
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** What a tool needs to know about one operation of an API. */
export interface ApiOperation {
  readonly method: string;
  readonly path: string;
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly inputs: readonly OperationInput[];
  /** Whether the inputs have more than MOST_SCHEMAS schemas, nested ones included. They are then incomplete. */
  readonly tooLarge?: boolean;
  /**
   * The list in the response: its member name (undefined if the list is the whole response), and the names of the
   * members beside it.
   */
  readonly list?: { readonly name: string | undefined; readonly beside: readonly string[] } | undefined;
}

/** How many schemas the inputs of one operation may have. Schemas that refer to themselves have no end. */
export const MOST_SCHEMAS = 1000;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Reads the operations of an OpenAPI document, 3.0 or 3.1. Throws TypeError if it is not one. */
export function operationsOf(document: unknown): readonly ApiOperation[] {
  if (!isObject(document) || !/^3\./.test(String(document.openapi)) || !isObject(document.paths)) {
    throw new TypeError('This is no OpenAPI 3 document: it has no `openapi: 3.x` with `paths`.');
  }
  const base = openApiBasePath(document);
  return Object.entries(document.paths).flatMap(([path, item]): ApiOperation[] => {
    if (!isObject(item)) return [];
    return METHODS.flatMap((method): ApiOperation[] => {
      const operation = item[method];
      if (!isObject(operation)) return [];
      const name = textOf(operation.operationId) ?? `${method} ${path}`;
      const title = textOf(operation.summary) ?? name;
      const description = textOf(operation.description);
      const reader = { document, left: MOST_SCHEMAS };
      const inputs = [
        ...parameters(reader, [...listOf(item.parameters), ...listOf(operation.parameters)]),
        ...bodyMembers(reader, operation.requestBody),
      ];
      const tooLarge = reader.left < 0;
      const list = answeredList(document, operation.responses);
      return [
        { method: method.toUpperCase(), path: `${base}${path}`, name, title, description, inputs, tooLarge, list },
      ];
    });
  });
}

/** A document, and how many schemas of it may still be read. */
interface Reader {
  readonly document: JsonObject;
  left: number;
}

function parameters(reader: Reader, given: readonly unknown[]): readonly OperationInput[] {
  return given.flatMap((one): readonly OperationInput[] => {
    const parameter = resolved(reader.document, one);
    // Header fields and cookies cannot be set by arguments.
    if (!isObject(parameter) || (parameter.in !== 'path' && parameter.in !== 'query')) return [];
    const name = textOf(parameter.name);
    if (name === undefined) return [];
    const description = textOf(parameter.description);
    const schema = {
      ...plainSchema(reader, parameter.schema),
      ...(description === undefined ? {} : { description }),
    };
    return [{ name, required: parameter.in === 'path' || parameter.required === true, schema }];
  });
}

function bodyMembers(reader: Reader, given: unknown): readonly OperationInput[] {
  const schema = jsonSchema(reader.document, given);
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = listOf(schema.required);
  return membersOf(schema.properties).flatMap(([name, member]) =>
    isObject(member) && member.readOnly === true
      ? []
      : [{ name, required: required.includes(name), schema: plainSchema(reader, member) }],
  );
}

/** The schema of a request body or a response in JSON. */
function jsonSchema(document: JsonObject, given: unknown): unknown {
  return resolved(document, valueAt(resolved(document, given), ['content', 'application/json', 'schema']));
}

/** Undefined if there are several lists, because it is unclear which one is meant. */
function answeredList(document: JsonObject, responses: unknown): ApiOperation['list'] {
  if (!isObject(responses)) return undefined;
  const schema = jsonSchema(document, responses['200'] ?? responses['2XX']);
  if (!isObject(schema)) return undefined;
  if (isList(schema)) return { name: undefined, beside: [] };
  if (!isObject(schema.properties)) return undefined;
  const beside = Object.keys(schema.properties);
  const lists = Object.entries(schema.properties).filter(([, member]) => isList(resolved(document, member)));
  return lists.length === 1 ? { name: lists[0]?.[0], beside } : undefined;
}

function isList(schema: unknown): boolean {
  return isObject(schema) && [schema.type].flat().includes('array');
}

const KEYWORDS = 'type enum format minimum maximum minLength maxLength pattern description default'.split(' ');
const TYPES = ['string', 'integer', 'number', 'boolean', 'array', 'object'];
const FORMATS = ['date', 'date-time', 'email', 'uri', 'uuid', 'time'];

/**
 * Simplifies a schema to what a model needs to choose a value, in keywords that every draft of JSON Schema supports.
 */
function plainSchema(reader: Reader, given: unknown, depth = 0): Record<string, unknown> {
  reader.left -= 1;
  const schema = reader.left < 0 ? undefined : resolved(reader.document, given);
  if (!isObject(schema) || depth > 4) return { type: 'string' };
  const plain: Record<string, unknown> = Object.fromEntries(
    KEYWORDS.filter((keyword) => schema[keyword] !== undefined).map((keyword) => [keyword, schema[keyword]]),
  );
  const type = listOf(schema.type).find((one) => one !== 'null') ?? schema.type;
  plain.type = TYPES.includes(String(type)) ? type : 'string';
  if (!FORMATS.includes(String(plain.format))) delete plain.format;
  if (plain.type === 'array') plain.items = plainSchema(reader, schema.items, depth + 1);
  if (plain.type === 'object' && isObject(schema.properties)) {
    plain.properties = Object.fromEntries(
      membersOf(schema.properties).map(([name, member]) => [name, plainSchema(reader, member, depth + 1)]),
    );
  }
  // Remove keywords of other types: they have no effect, and strict validation reports them as mistakes.
  const foreign = plain.type === 'string' ? ['minimum', 'maximum'] : ['minLength', 'maxLength', 'pattern', 'format'];
  for (const keyword of foreign) delete plain[keyword];
  return plain;
}

/** The same for a schema that refers to nothing but itself. */
export function simplified(schema: JsonObject): Record<string, unknown> {
  return plainSchema({ document: schema, left: MOST_SCHEMAS }, schema);
}

/** The members of a map, one more than may be read at most. */
function membersOf(map: JsonObject): readonly (readonly [string, unknown])[] {
  return Object.keys(map)
    .slice(0, MOST_SCHEMAS + 1)
    .map((name) => [name, map[name]]);
}

/** A text that says something. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;
}
