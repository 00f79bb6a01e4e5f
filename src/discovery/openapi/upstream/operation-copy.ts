import type { RouteConfig, UpstreamConfig } from '../../../config/schema.ts';
import { requestFields, responseFields } from '../../../http/header-names.ts';
import { isObject, type JsonObject, listOf } from '../../../http/json-object.ts';
import { MEMBER_ID_TEXT } from '../path-template.ts';
import { ANY_RESPONSE, ANY_SUCCESS, LEFT, withRequestId } from '../responses.ts';
import type { RouteFacts } from '../route-operation.ts';
import { type SchemaCopy, withoutProperties } from './schema-copy.ts';
import { isInternal, membersOf, type Source, texts } from './source.ts';

export interface OperationParts {
  readonly source: Source;
  readonly schemas: SchemaCopy;
  readonly upstream: UpstreamConfig;
}

/** An operation and its path item from the upstream's document, and its path at the gate. */
export interface FoundOperation {
  readonly item: JsonObject;
  readonly operation: JsonObject;
  readonly path: string;
}

/**
 * Describes an upstream's operation as clients of the gate see it. What the gate fills, drops or answers itself is
 * described as the gate's; the rest is taken from the upstream. Only what is named here is copied: no servers,
 * security, callbacks, links or extensions.
 */
export function operationCopy(
  parts: OperationParts,
  entry: RouteConfig,
  facts: RouteFacts,
  found: FoundOperation,
): JsonObject {
  const { operation } = found;
  const filled = [...Object.keys(entry.query ?? {}), ...Object.keys(entry.body ?? {})].map(bareName);
  const copy: Copy = { ...parts, ...found, filled };
  const description = typeof operation.description === 'string' ? [operation.description] : [];
  return {
    ...texts(operation, 'operationId'),
    summary: typeof operation.summary === 'string' ? operation.summary : facts.summary,
    description: [...description, facts.description].join('\n\n'),
    ...(operation.deprecated === true ? { deprecated: true } : {}),
    parameters: parametersOf(copy),
    ...requestBodyOf(copy, Object.keys(entry.body ?? {}).length > 0),
    responses: responsesOf(copy, facts),
  };
}

interface Copy extends OperationParts, FoundOperation {
  /** The bare names of the parameters and members that the gate fills. */
  readonly filled: readonly string[];
}

function contentOf({ schemas }: Copy, given: unknown): JsonObject {
  return Object.fromEntries(
    membersOf(given).map(([type, media]) => [
      type,
      { ...(media.schema === undefined ? {} : { schema: schemas.schema(media.schema) }), ...exampleOf(media) },
    ]),
  );
}

/** The upstream's parameters that clients may send, after those that the path has and the upstream left out. */
function parametersOf(copy: Copy): readonly JsonObject[] {
  const { operation, item, path, upstream } = copy;
  const { request } = upstream.headers;
  const fieldPolicy = requestFields({ knownOnly: true, allow: request.allow, drop: request.drop });
  const isField = (name: string) => fieldPolicy(name) === 'pass';
  // Parameters of the operation override those of the path item.
  const given = new Map<string, JsonObject>();
  for (const one of [...listOf(operation.parameters), ...listOf(item.parameters)]) {
    const parameter = parameterOf(copy, isField, one);
    if (parameter === undefined) continue;
    const key = `${parameter.in} ${parameter.name}`;
    if (!given.has(key)) given.set(key, parameter);
  }
  const names = new Set([...path.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name));
  const missing = [...names].filter((name) => !given.has(`path ${name}`));
  const added = missing.map((name) => ({
    name,
    in: 'path',
    required: true,
    description: name === 'member_id' ? MEMBER_ID_TEXT : `\`${name}\`.`,
    schema: { type: 'string' },
  }));
  return [...added, ...given.values()];
}

function parameterOf(copy: Copy, isField: (name: string) => boolean, given: unknown): JsonObject | undefined {
  const { source, schemas, path, filled } = copy;
  const found = source.resolve(given);
  if (found === undefined || isInternal(found) || typeof found.name !== 'string') return undefined;
  const { name } = found;
  const isKept =
    (found.in === 'path' && path.includes(`{${name}}`)) ||
    (found.in === 'query' && !filled.includes(bareName(name))) ||
    (found.in === 'header' && isField(name));
  if (!isKept) return undefined;
  const description = typeof found.description === 'string' ? found.description : `\`${name}\`.`;
  return {
    name,
    in: found.in,
    required: found.in === 'path' || found.required === true,
    description: found.in === 'path' && name === 'member_id' ? MEMBER_ID_TEXT : description,
    ...(typeof found.style === 'string' ? { style: found.style } : {}),
    ...(typeof found.explode === 'boolean' ? { explode: found.explode } : {}),
    ...(found.deprecated === true ? { deprecated: true } : {}),
    ...(isObject(found.content)
      ? { content: contentOf(copy, found.content) }
      : { schema: schemas.schema(found.schema), ...exampleOf(found) }),
  };
}

/** `jsonOnly`: the gate sets members of the body, which it can do only in JSON. */
function requestBodyOf(copy: Copy, jsonOnly: boolean): JsonObject {
  const { source, schemas, operation, filled } = copy;
  const found = source.resolve(operation.requestBody);
  if (found === undefined || isInternal(found)) return {};
  const types = Object.entries(contentOf(copy, found.content)).filter(([type]) => !jsonOnly || /[/+]json$/.test(type));
  if (types.length === 0) return {};
  const cleaned = types.map(([type, media]) => {
    if (filled.length === 0) return [type, media];
    // Write out a referenced schema, because other operations that share it may allow clients to send what this
    // route fills.
    const { [type]: given } = isObject(found.content) ? found.content : {};
    const schema = schemas.schema(source.resolve(isObject(given) ? given.schema : undefined));
    return [type, { schema: withoutProperties(schema, (name) => filled.includes(bareName(name))) }];
  });
  const required = found.required === true ? { required: true } : {};
  return { requestBody: { ...texts(found, 'description'), ...required, content: Object.fromEntries(cleaned) } };
}

function responsesOf(copy: Copy, facts: RouteFacts): JsonObject {
  const { source, operation } = copy;
  const theirs = membersOf(operation.responses).flatMap(([status, given]) => {
    const found = source.resolve(given);
    if (found === undefined || !/^([1-5](\d\d|XX)|default)$/.test(status) || GATES_OWN.includes(status)) return [];
    return [[status, responseOf(copy, found, status, Object.hasOwn(facts.responses, status))] as const];
  });
  const isSuccessKnown = theirs.some(([status]) => status.startsWith('2'));
  return {
    ...ANY_RESPONSE,
    ...(isSuccessKnown ? {} : ANY_SUCCESS),
    ...facts.responses,
    ...Object.fromEntries(theirs),
  };
}

/** `isAlsoOurs`: the gate itself may answer with this status, too. */
function responseOf(copy: Copy, found: JsonObject, status: string, isAlsoOurs: boolean): JsonObject {
  const { source, schemas, upstream } = copy;
  const fieldPolicy = responseFields({ drop: upstream.headers.response.drop });
  const headers = membersOf(found.headers).flatMap(([name, header]) => {
    const resolved = source.resolve(header);
    if (resolved === undefined || fieldPolicy(name) !== 'pass') return [];
    return [[name, { ...texts(resolved, 'description'), schema: schemas.schema(resolved.schema) }]];
  });
  const description = typeof found.description === 'string' && found.description !== '' ? found.description : status;
  const body = {
    ...(isAlsoOurs ? { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } : {}),
    ...contentOf(copy, found.content),
  };
  const fields = { ...LEFT, ...Object.fromEntries(headers) };
  return withRequestId({
    description,
    headers: fields,
    ...(Object.keys(body).length === 0 ? {} : { content: body }),
  });
}

/** Always described as the gate's own, because an upstream's 401 becomes a 403 at the gate. */
const GATES_OWN = ['401', '403', '1XX'];

/** Some servers treat `user_id`, `user_id[]` and `User_Id` as the same parameter. */
function bareName(name: string): string {
  return name.replace(/\[.*$/, '').toLowerCase();
}

/** Examples that are contained in the document itself. */
function exampleOf(given: JsonObject): JsonObject {
  if (Object.hasOwn(given, 'example')) return { example: given.example };
  const examples = membersOf(given.examples).filter(([, one]) => Object.hasOwn(one, 'value'));
  if (examples.length === 0) return {};
  return {
    examples: Object.fromEntries(
      examples.map(([name, one]) => [name, { ...texts(one, 'summary', 'description'), value: one.value }]),
    ),
  };
}
