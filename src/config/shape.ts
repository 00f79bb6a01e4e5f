import { isObject } from '../http/json-object.ts';
import { installedPath, readInstalled } from '../installation.ts';
import type { JsonSchema } from './json-schema.ts';
import { type Path, type Tree, valueAt } from './tree.ts';

/** The generated file, because building the JSON Schema at run time would take a tenth of the start time. */
const SCHEMA = installedPath('schema/config.schema.json');

let root: JsonSchema | undefined;

/** Looks up what the schema allows at a path. The `kind`s in the settings select between variants. */
export function shapeAt(path: Path, tree: Tree) {
  root ??= JSON.parse(readInstalled(SCHEMA).toString('utf8')) as JsonSchema;
  let nodes: readonly JsonSchema[] = [root];
  for (const [depth, step] of path.entries()) {
    nodes = variants(nodes, valueAt(tree, path.slice(0, depth))).flatMap((node) => childOf(node, step));
  }
  nodes = variants(nodes, valueAt(tree, path));
  return {
    /** Keys that the schema defines. */
    keys: [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))],
    /** Whether other keys are allowed too, as in `upstreams` and `scopes`. */
    open: nodes.some((node) => typeof node.additionalProperties === 'object'),
    list: nodes.some((node) => node.items !== undefined),
    /** Whether only text is allowed, so that `1234` is read as text. */
    text: nodes.length > 0 && nodes.every((node) => node.type === 'string'),
  };
}

function childOf(node: JsonSchema, step: string | number): readonly JsonSchema[] {
  if (typeof step === 'number') return node.items === undefined ? [] : [node.items];
  if (node.properties !== undefined && Object.hasOwn(node.properties, step)) return [node.properties[step] ?? {}];
  return typeof node.additionalProperties === 'object' ? [node.additionalProperties] : [];
}

/** Expands variants. If `value` has a `kind` that selects one of them, only that one is returned. */
function variants(nodes: readonly JsonSchema[], value: unknown): readonly JsonSchema[] {
  const all = nodes.flatMap((node) => node.anyOf ?? node.oneOf ?? [node]);
  const kind = isObject(value) ? value.kind : undefined;
  const picked = all.filter((node) => kind !== undefined && node.properties?.kind?.const === kind);
  return picked.length > 0 ? picked : all;
}
