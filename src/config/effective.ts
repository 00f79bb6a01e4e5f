import { Document, isMap, isScalar, isSeq, type Node } from 'yaml';
import { isObject } from '../http/json-object.ts';
import { SECRET_KEY } from './code-frame.ts';
import { configJsonSchema, type JsonSchema } from './json-schema.ts';
import type { LoadedConfig } from './load.ts';
import { type Path, type Tree, valueAt } from './tree.ts';

/** The complete settings in the form of the configuration file. */
export type Effective = ReturnType<typeof effectiveConfig>;

/** The settings of a loaded configuration in the form of the file. It has references to secrets, never their values. */
export function effectiveConfig({ written }: Pick<LoadedConfig, 'written'>) {
  const tree = complete(written.tree, configJsonSchema()) as Tree;
  return {
    /** The settings with every default filled in. Loading them gives the same configuration. */
    tree: masked(tree) as Tree,
    /** Where the setting at `path` comes from: `gate.yaml:12`, `environment variable PORT` or `default`. */
    origin(path: Path): string {
      if (valueAt(written.tree, path) === undefined) return 'default';
      const { file, line } = written.place(path);
      return line === 0 ? file : `${file}:${line}`;
    },
  };
}

/** Formats the settings as YAML. With `origins`, a comment after each setting says where it comes from. */
export function toYaml({ tree, origin }: Effective, options: { readonly origins: boolean }): string {
  const document = new Document(tree, { aliasDuplicateObjects: false });
  if (options.origins) annotate(document.contents, [], origin);
  return document.toString({ lineWidth: 0 });
}

function annotate(node: unknown, path: Path, origin: Effective['origin']): void {
  if (isMap(node) && node.items.length > 0) {
    for (const { key, value } of node.items) {
      annotate(value, [...path, String(isScalar(key) ? key.value : key)], origin);
    }
  } else if (isSeq(node) && node.items.some(isMap)) {
    for (const [index, item] of node.items.entries()) annotate(item, [...path, index], origin);
  } else {
    if (isSeq(node) || isMap(node)) node.flow = true;
    if (node !== null) (node as Node).comment = ` ${origin(path)}`;
  }
}

/** Fills in the defaults of the schema for settings that are absent. Keys are in the order of the schema. */
function complete(value: unknown, schema: JsonSchema): unknown {
  const variant = chosen(value, schema);
  if (Array.isArray(value)) return value.map((item) => complete(item, variant.items ?? {}));
  if (!isObject(value)) return value;
  const { properties = {}, additionalProperties } = variant;
  const others = typeof additionalProperties === 'object' ? additionalProperties : {};
  const declared = Object.entries(properties).flatMap(([key, child]) => {
    const inner = Object.hasOwn(value, key) ? value[key] : child.default;
    return inner === undefined ? [] : [[key, complete(inner, child)] as const];
  });
  const named = Object.entries(value)
    .filter(([key]) => !Object.hasOwn(properties, key))
    .map(([key, inner]) => [key, complete(inner, others)] as const);
  return Object.fromEntries([...declared, ...named]);
}

/** The variant selected by the value's `kind`. Variants without a `kind` have no defaults to fill in. */
function chosen(value: unknown, schema: JsonSchema): JsonSchema {
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants === undefined) return schema;
  const kind = isObject(value) ? value.kind : undefined;
  return variants.find((one) => kind !== undefined && one.properties?.kind?.const === kind) ?? {};
}

/** Masks secrets as a fallback: the schema allows only references to them, but a header or a URL can contain anything. */
function masked(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, key));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner, name)]));
  }
  if (typeof value !== 'string') return value;
  return SECRET_KEY.test(key) ? '***' : value.replace(/\/\/[^/\s@]+@/g, '//***@');
}
