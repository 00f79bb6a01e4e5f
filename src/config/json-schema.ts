import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { profileFile, profileNames, SCOPES_FILE } from './profiles.ts';
import { configSchema } from './schema.ts';
import { isTree } from './tree.ts';

/** The part of JSON Schema that zod writes for our schema. */
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
 * Out: the JSON Schema (2020-12) of the file an operator writes, for editors, Helm and docs. It differs from the zod
 * schema, which judges the merged result: it knows `profile`, and asks for nothing that a profile or the bundled scope
 * catalogue supplies.
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
      profile: { type: 'string', enum: names, description: 'Which profile fills in what this file leaves out.' },
      ...others,
      scopes: {
        ...scopes,
        description: 'Laid over the bundled catalogue: a new scope, or another title.',
        additionalProperties: partial(scopes.additionalProperties),
      },
    },
    required: required.filter((key) => !supplied.has(key)),
    ...rest,
  };
}

/** A scope of the catalogue may be given another title and keep its kind. */
function partial(schema: boolean | JsonSchema | undefined): boolean | JsonSchema {
  if (typeof schema !== 'object') return schema ?? true;
  const { required: _, ...rest } = schema;
  return rest;
}

function topLevelKeys(file: URL): string[] {
  const tree: unknown = parse(readFileSync(file, 'utf8'));
  return isTree(tree) ? Object.keys(tree) : [];
}
