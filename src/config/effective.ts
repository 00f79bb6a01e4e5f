import { Document, isMap, isScalar, isSeq, type Node } from 'yaml';
import { SECRET_KEY } from './code-frame.ts';
import { configJsonSchema, type JsonSchema } from './json-schema.ts';
import type { LoadedConfig } from './load.ts';
import { isTree, type Path, type Tree, valueAt } from './tree.ts';

/** Settings as an operator would write them, complete. */
export interface Effective {
  /** With every default filled in; it loads to the same configuration. */
  readonly tree: Tree;
  /** Out: what made the setting at `path`: `gate.yaml:12`, `environment variable PORT`, `default`. */
  readonly origin: (path: Path) => string;
}

/** In: a configuration that was loaded. Out: what holds, in the form of the file. No secret is in it: files name them only. */
export function effectiveConfig({ written }: Pick<LoadedConfig, 'written'>): Effective {
  const tree = complete(written.tree, configJsonSchema()) as Tree;
  return {
    tree: masked(tree) as Tree,
    origin(path) {
      if (valueAt(written.tree, path) === undefined) return 'default';
      const { file, line } = written.place(path);
      return line === 0 ? file : `${file}:${line}`;
    },
  };
}

/** Out: the settings as YAML; with `origins`, a comment behind each says what made it. `$schema` is for editors. */
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

/** Fills in what the schema has as defaults, wherever the settings leave something out. In the order of the schema. */
function complete(value: unknown, schema: JsonSchema): unknown {
  const variant = chosen(value, schema);
  if (Array.isArray(value)) return value.map((item) => complete(item, variant.items ?? {}));
  if (!isTree(value)) return value;
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

/** Of alternatives, the one that the value's `kind` picks; of others none: what is written there is whole. */
function chosen(value: unknown, schema: JsonSchema): JsonSchema {
  const variants = schema.oneOf ?? schema.anyOf;
  if (variants === undefined) return schema;
  const kind = isTree(value) ? value.kind : undefined;
  return variants.find((one) => kind !== undefined && one.properties?.kind?.const === kind) ?? {};
}

/** A second net: where a secret may stand the schema takes a reference only, but a header or an URL can hold anything. */
function masked(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => masked(item, key));
  if (isTree(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, masked(inner, name)]));
  }
  if (typeof value !== 'string') return value;
  return SECRET_KEY.test(key) ? '***' : value.replace(/\/\/[^/\s@]+@/g, '//***@');
}
