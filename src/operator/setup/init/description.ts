import { valueAt } from '../../../config/tree.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../../../http/json-object.ts';
import { resolved as followed } from '../../../http/json-pointer.ts';
import { openApiBasePath } from '../../../http/openapi-base-path.ts';
import { jsonObject, type SiteAnswer, text } from '../../doctor/answer.ts';

/** A GET operation of an API description. */
export type DescribedOperation = ReturnType<typeof operation>;

/** A POST that takes a password, with the names of its fields. */
export interface PasswordLogin {
  readonly path: string;
  readonly format: 'json' | 'form';
  readonly username: string;
  readonly password: string;
}

type LoginOperation = PasswordLogin & Pick<DescribedOperation, 'gives'>;

/** An OpenAPI document, read into what `init` needs. Everything in it has been validated. */
export type Description = NonNullable<ReturnType<typeof readDescription>>;

const PATH = /^(\/[A-Za-z0-9._~-]{1,64}){1,12}\/?$/;
const FIELD = /^[A-Za-z0-9_-]{1,40}$/;
const WORDS = /^[\p{L}\p{N}][\p{L}\p{N} .,:&’'()/–-]{0,99}$/u;
const MOST_PATHS = 3000;
const MOST_LOGINS = 4;
const MOST_COOKIES = 5;
const LOGIN_PATH = /\/(log-?in|sign-?in|token|access-token|sessions?|authenticate)\/?$/i;
const USERNAME = /^(username|email|login|user|identifier|email_address|user_name)$/i;
const PASSWORD = /^(password|passwd|pwd|pass)$/i;

/** Reads a response as an API description. Undefined if it is none. */
export function readDescription(answer: SiteAnswer | undefined) {
  const document = answer?.status === 200 ? jsonObject(answer) : undefined;
  const { openapi, swagger, paths } = document ?? {};
  if (document === undefined || (typeof openapi !== 'string' && typeof swagger !== 'string')) return undefined;
  if (typeof paths !== 'object' || paths === null) return undefined;
  const base = openApiBasePath(document);
  const items = Object.entries(paths)
    .slice(0, MOST_PATHS)
    .map(([path, item]) => [base + path, objectOf(item)] as const)
    .filter(([path]) => PATH.test(path.replace(/\{[A-Za-z0-9_.-]{1,64}\}/g, '0')));
  return {
    operations: items.flatMap(([path, item]) =>
      item.get === undefined ? [] : [operation(document, path, item, objectOf(item.get))],
    ),
    logins: items
      .flatMap(([path, { post }]) => (LOGIN_PATH.test(path) ? loginOperation(document, path, objectOf(post)) : []))
      .slice(0, MOST_LOGINS),
    /** The cookies by which it says that members are recognised. */
    cookies: Object.values(objectOf(objectOf(document.components).securitySchemes))
      .map(objectOf)
      .flatMap(({ type, in: place, name }) => (type === 'apiKey' && place === 'cookie' ? [text(name) ?? ''] : []))
      .filter((name) => FIELD.test(name))
      .slice(0, MOST_COOKIES),
  };
}

function operation(document: JsonObject, path: string, item: JsonObject, get: JsonObject) {
  const parameters = [item.parameters, get.parameters].flatMap(listOf).map((one) => resolved(document, one));
  const summary = text(get.summary)?.trim() ?? '';
  return {
    /** The path with its parameters in braces. */
    path,
    /** What it does, in the site's words; undefined if the site says nothing that fits on a line. */
    summary: WORDS.test(summary) ? summary : undefined,
    /** Whether it cannot be called without a query. */
    needsQuery: parameters.some((one) => one.in === 'query' && one.required === true),
    /** The properties of its response, by JSON pointer: only those of objects in objects, and at most MOST_PROPERTIES. */
    gives: (): readonly string[] => propertiesOf(document, successOf(document, get)),
  };
}

/** A login takes nothing but a name and a password, whatever else it would accept. */
function loginOperation(document: JsonObject, path: string, post: JsonObject): readonly LoginOperation[] {
  const content = objectOf(resolved(document, post.requestBody).content);
  for (const [type, format] of [
    ['application/json', 'json'],
    ['application/x-www-form-urlencoded', 'form'],
  ] as const) {
    const schema = resolved(document, objectOf(content[type]).schema);
    const names = namesOf(schema.properties);
    const [username, password] = [names.find((name) => USERNAME.test(name)), names.find((name) => PASSWORD.test(name))];
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (username === undefined || password === undefined) continue;
    if (required.some((name) => name !== username && name !== password)) continue;
    return [{ path, format, username, password, gives: () => propertiesOf(document, successOf(document, post)) }];
  }
  return [];
}

/** The schema of the response that means success. */
function successOf(document: JsonObject, operation: JsonObject): JsonObject {
  const responses = objectOf(operation.responses);
  const response = resolved(document, responses['200'] ?? responses['201']);
  return resolved(document, objectOf(objectOf(response.content)['application/json']).schema ?? response.schema);
}

/** How many properties of a response are looked at: more than any record of a member has. */
const MOST_PROPERTIES = 500;

/** JSON pointers to the properties of an object, and after them those of the objects in it. */
function propertiesOf(document: JsonObject, { properties }: JsonObject): readonly string[] {
  const outer = namesOf(properties);
  const inner = outer.flatMap((name) =>
    namesOf(resolved(document, valueAt(properties, [name])).properties).map((below) => `${name}/${below}`),
  );
  return [...outer, ...inner.slice(0, MOST_PROPERTIES)].map((pointer) => `/${pointer}`);
}

/** One schema may be referred to from thousands of places. */
const NAMES = new WeakMap<JsonObject, readonly string[]>();

function namesOf(properties: unknown): readonly string[] {
  if (!isObject(properties)) return [];
  const names = NAMES.get(properties) ?? Object.keys(properties).filter((name) => FIELD.test(name));
  NAMES.set(properties, names);
  return names.slice(0, MOST_PROPERTIES);
}

function resolved(document: JsonObject, value: unknown): JsonObject {
  return followed(document, value) ?? {};
}
