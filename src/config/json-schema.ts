import { parse } from 'yaml';
import { z } from 'zod';
import { isObject } from '../http/json-object.ts';
import { codePath, readInstalled } from '../installation.ts';
import { readPlainYaml } from './plain-yaml.ts';
import { profileFile, profileNames, SCOPES_FILE } from './profiles.ts';
import { configSchema } from './schema.ts';

/** The subset of JSON Schema that zod generates for our schema. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema;
  readonly else?: JsonSchema;
  readonly [keyword: string]: unknown;
}

/**
 * The JSON Schema (2020-12) of the configuration file, for editors, Helm and the docs. Unlike the zod schema, which
 * validates the merged settings, it has `profile` and does not require keys that a profile or the bundled scope
 * catalogue sets.
 */
export function configJsonSchema(): JsonSchema {
  const names = profileNames();
  const supplied = new Set([SCOPES_FILE, ...names.map(profileFile)].flatMap(topLevelKeys));
  const {
    $schema,
    type,
    properties = {},
    required = [],
    ...rest
  } = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-2020-12',
  }) as JsonSchema;
  const { $schema: pointer = {}, version = {}, scopes = {}, ...others } = properties;
  const schema = {
    $schema,
    title: 'coursegate configuration',
    type: type ?? 'object',
    properties: {
      $schema: pointer,
      version,
      profile: { type: 'string', enum: names },
      ...others,
      scopes: {
        ...scopes,
        additionalProperties: partial(scopes.additionalProperties),
      },
    },
    // A main file leaves them to its schools, and a school's file to what it extends.
    if: { anyOf: [{ required: ['schools'] }, { required: ['extends'] }] },
    else: { required: required.filter((key) => !supplied.has(key)) },
    ...rest,
  };
  return described(schema, keyTexts(), '', '');
}

/** What operators read of each key, by its path, and by its kind where kinds differ: see keys.yaml. */
export function keyTexts(): Readonly<Record<string, string>> {
  return readPlainYaml(readInstalled(codePath('config/keys.yaml')).toString('utf8')) as Record<string, string>;
}

/**
 * Adds the texts of all keys of a schema.
 * @param kind - that of the block in which `path` is; '' if it has none
 */
function described(schema: JsonSchema, texts: ReturnType<typeof keyTexts>, path: string, kind: string): JsonSchema {
  const { properties = {}, additionalProperties: named, items, anyOf, oneOf } = schema;
  const inner = String(properties.kind?.const ?? kind);
  const keyed = (child: JsonSchema, at: string, of: string): JsonSchema => {
    const { description: usual, ...rest } = described(child, texts, at, of);
    const description = texts[`${at} (${of})`] ?? texts[at] ?? usual;
    return description === undefined ? rest : { description, ...rest };
  };
  const below = Object.entries(properties).map(([key, child]) => [
    key,
    keyed(child, path === '' ? key : `${path}.${key}`, inner),
  ]);
  const variants = (all: readonly JsonSchema[]) => all.map((one) => described(one, texts, path, kind));
  return {
    ...schema,
    ...(schema.properties && { properties: Object.fromEntries(below) }),
    ...(typeof named === 'object' && { additionalProperties: keyed(named, `${path}.NAME`, inner) }),
    ...(items && { items: keyed(items, `${path}[]`, inner) }),
    ...(anyOf && { anyOf: variants(anyOf) }),
    ...(oneOf && { oneOf: variants(oneOf) }),
  };
}

/** Makes every key optional, so that a scope of the catalogue can get another title and keep its kind. */
function partial(schema: boolean | JsonSchema | undefined): boolean | JsonSchema {
  if (typeof schema !== 'object') return schema ?? true;
  const { required: _, ...rest } = schema;
  return rest;
}

function topLevelKeys(file: string): string[] {
  const tree: unknown = parse(readInstalled(file).toString('utf8'));
  return isObject(tree) ? Object.keys(tree) : [];
}
