import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../../packaging/files.ts';
import { configJsonSchema, type JsonSchema, keyTexts } from '../../src/config/json-schema.ts';
import { configReference } from '../tooling/config-reference.ts';

describe('schema/config.schema.json', () => {
  it('is up to date', async () => {
    const committed: unknown = JSON.parse(
      await readFile(new URL('../../schema/config.schema.json', import.meta.url), 'utf8'),
    );
    expect(committed, 'stale: run `npm exec -- node test/tooling/write-schema.ts`').toEqual(configJsonSchema());
  });
});

describe('configJsonSchema', () => {
  it('includes the profile, and does not require what profiles and the catalogue provide', () => {
    const schema = configJsonSchema();
    expect(schema.properties?.profile).toMatchObject({ enum: ['A', 'B'] });
    expect(schema.else?.required).toEqual(['version', 'origin', 'store', 'login', 'upstreams']);
    expect(schema.additionalProperties).toBe(false);
  });

  it('requires nothing of a main file that its schools have, nor of a file that another one completes', () => {
    const isValid = new Ajv2020({ strict: false, logger: false }).compile(configJsonSchema());
    const store = { kind: 'memory' };
    expect(isValid({ version: 1, schools: './schools/*.yaml', store })).toBe(true);
    expect(isValid({ extends: '../wordpress.yaml', origin: 'https://school.example' })).toBe(true);
    expect(isValid({ version: 1, origin: 'https://school.example', store })).toBe(false);
    expect(isValid({ version: 1, schools: './schools/*.yaml', stroe: store })).toBe(false);
  });
});

describe('config/README.md', () => {
  it('is up to date', async () => {
    const committed = await readFile(new URL('../../config/README.md', import.meta.url), 'utf8');
    expect(committed, 'stale: run `npm run schema`').toBe(configReference());
  });

  it('has a row for each key of a route, an upstream and a kind of login', () => {
    const text = configReference();
    expect(text).toContain('| `match` | text | **required** |');
    expect(text).toContain('| `NAME.breaker.failures` | whole number, 0 or more | `5` |');
    expect(text).toContain('| `address` | rate | `{ requests: 6000, per: 1m }` |');
    expect(text.match(/^\| `recheck\.interval` /gm)).toHaveLength(1);
  });
});

/**
 * The budget: how many keys the configuration has, each counted once across the variants of a block. Operators read all of
 * them to find the one that they need, so a new key is a reason to look for one that it replaces.
 */
const KEYS = 335;

describe('the configuration keys', () => {
  it('are as many as the budget says', () => {
    const all = new Set(leaves(configJsonSchema(), ''));
    const before = committedKeys();
    const added = before === undefined ? [] : [...all].filter((key) => !before.has(key));
    const advice = [
      `The configuration has ${all.size} keys, and the budget in test/config/json-schema.test.ts is ${KEYS}.`,
      ...(added.length === 0 ? [] : [`New since the last commit: ${added.join(', ')}.`]),
      `Look for keys that the new ones replace, then set KEYS to ${all.size} in the commit that changes them.`,
    ];
    expect(all.size, advice.join('\n')).toBe(KEYS);
  });
});

describe('keys.yaml', () => {
  it('has a text for every key, and none for anything else', () => {
    const texts = Object.entries(keyTexts());
    const shown = descriptions(configJsonSchema());
    expect(texts.filter(([, text]) => !shown.includes(text)).map(([path]) => path)).toEqual([]);
    expect(shown.indexOf(undefined), `after “${shown[shown.indexOf(undefined) - 1]}”`).toBe(-1);
  });
});

/** What the schema says of each key, in its order. One with a single value, such as a `kind`, says it by that. */
function descriptions(schema: JsonSchema): readonly unknown[] {
  const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = schema;
  const named = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  return [
    ...Object.values(properties).flatMap((child) => [
      ...(child.const === undefined || child.description !== undefined ? [child.description] : []),
      ...descriptions(child),
    ]),
    ...[...anyOf, ...oneOf, ...named, ...(items === undefined ? [] : [items])].flatMap(descriptions),
  ];
}

/** The keys at the last commit; undefined without Git. */
function committedKeys(): ReadonlySet<string> | undefined {
  const shown = spawnSync('git', ['show', 'HEAD:schema/config.schema.json'], { cwd: ROOT, encoding: 'utf8' });
  return shown.status === 0 ? new Set(leaves(JSON.parse(shown.stdout) as JsonSchema, '')) : undefined;
}

/** The paths of all keys without keys below them, including those of variants, lists and maps. */
function leaves(schema: JsonSchema, path: string): readonly string[] {
  const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([key, child]) => {
      const below = leaves(child, `${path}.${key}`);
      return below.length === 0 ? [`${path}.${key}`] : below;
    }),
    ...[...anyOf, ...oneOf].flatMap((variant) => leaves(variant, path)),
    ...(typeof additionalProperties === 'object' ? leaves(additionalProperties, `${path}.*`) : []),
    ...(items === undefined ? [] : leaves(items, `${path}[]`)),
  ];
}

describe('each key', () => {
  it('has a description', () => {
    expect(undescribed(configJsonSchema(), '')).toEqual([]);
  });
});

/** The keys below without a description; `kind` needs none, because its variants are described. */
function undescribed(schema: JsonSchema, path: string): readonly string[] {
  const { properties = {}, additionalProperties, items, anyOf = [], oneOf = [] } = schema;
  const own = Object.entries(properties).flatMap(([key, child]) => [
    ...(key === 'kind' || typeof child.description === 'string' ? [] : [`${path}.${key}`]),
    ...undescribed(child, `${path}.${key}`),
  ]);
  return [
    ...own,
    ...[...anyOf, ...oneOf].flatMap((variant) => undescribed(variant, path)),
    ...(typeof additionalProperties === 'object' ? undescribed(additionalProperties, `${path}.*`) : []),
    ...(items === undefined ? [] : undescribed(items, `${path}[]`)),
  ];
}
