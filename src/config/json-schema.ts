import { parse } from 'yaml';
import { z } from 'zod';
import { isObject } from '../http/json-object.ts';
import { readInstalled } from '../installation.ts';
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
  return {
    $schema,
    title: 'coursegate configuration',
    type: type ?? 'object',
    properties: {
      $schema: pointer,
      version,
      profile: {
        type: 'string',
        enum: names,
        description: 'Profile whose settings apply unless this file overrides them.',
      },
      ...others,
      scopes: {
        ...scopes,
        description: 'Additions to the bundled catalogue of scopes: new scopes, or other titles for existing ones.',
        additionalProperties: partial(scopes.additionalProperties),
      },
    },
    required: required.filter((key) => !supplied.has(key)),
    ...rest,
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
