import { readFileSync } from 'node:fs';
import type { JsonSchema } from './json-schema.ts';
import { isTree, type Path, type Tree, valueAt } from './tree.ts';

/** What may stand at a path. */
export interface Shape {
  /** Keys the schema names. */
  readonly keys: readonly string[];
  /** Whether other keys may stand there too: upstreams, scopes. */
  readonly open: boolean;
  readonly list: boolean;
  /** Whether only text may stand there, so that `1234` is text too. */
  readonly text: boolean;
}

/** As `npm run schema` wrote it: to make it anew would take a tenth of what a start takes. */
const SCHEMA = new URL('../../schema/config.schema.json', import.meta.url);

let root: JsonSchema | undefined;

/** In: a path and the settings so far (their `kind` decides between variants). Out: what may stand there. */
export function shapeAt(path: Path, tree: Tree): Shape {
  root ??= JSON.parse(readFileSync(SCHEMA, 'utf8')) as JsonSchema;
  let nodes: readonly JsonSchema[] = [root];
  for (const [depth, step] of path.entries()) {
    nodes = variants(nodes, valueAt(tree, path.slice(0, depth))).flatMap((node) => childOf(node, step));
  }
  nodes = variants(nodes, valueAt(tree, path));
  return {
    keys: [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))],
    open: nodes.some((node) => typeof node.additionalProperties === 'object'),
    list: nodes.some((node) => node.items !== undefined),
    text: nodes.length > 0 && nodes.every((node) => node.type === 'string'),
  };
}

function childOf(node: JsonSchema, step: string | number): readonly JsonSchema[] {
  if (typeof step === 'number') return node.items === undefined ? [] : [node.items];
  if (node.properties !== undefined && Object.hasOwn(node.properties, step)) return [node.properties[step] ?? {}];
  return typeof node.additionalProperties === 'object' ? [node.additionalProperties] : [];
}

/** Unfolds alternatives; when `value` has a `kind` that picks one of them, only that one. */
function variants(nodes: readonly JsonSchema[], value: unknown): readonly JsonSchema[] {
  const all = nodes.flatMap((node) => node.anyOf ?? node.oneOf ?? [node]);
  const kind = isTree(value) ? value.kind : undefined;
  const picked = all.filter((node) => kind !== undefined && node.properties?.kind?.const === kind);
  return picked.length > 0 ? picked : all;
}
