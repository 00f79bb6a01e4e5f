import type { Layer, YamlLayer } from './document.ts';
import type { Place } from './problems.ts';
import { merge, type Path, type Tree, valueAt } from './tree.ts';

/** The layers of a configuration, lowest precedence first. */
export interface Layers {
  readonly scopes: YamlLayer;
  readonly profile: YamlLayer;
  /** The file that `mcp.file` names. */
  readonly tools: Layer;
  readonly file: YamlLayer;
  readonly environment: Layer;
  readonly overrides: Layer;
}

/** Merges the layers. Drops `profile`, which has been applied by then, and `$schema`, which is for editors only. */
export function mergeLayers({ scopes, profile, tools, file, environment, overrides }: Layers): Tree {
  const merged = [scopes, profile, tools, file, environment, overrides].reduce<unknown>(
    (below, { tree }) => merge(below, tree),
    {},
  );
  const { profile: _, $schema: __, ...rest } = merged as Record<string, unknown>;
  return rest;
}

/**
 * Finds where the setting at `path` was made: in the layer with the highest precedence that has it. For a missing
 * setting, returns the place of the nearest enclosing mapping, preferably in the operator's file, where it will most
 * likely be added.
 */
export function placeInLayers(layers: Layers, path: Path, at: 'key' | 'value'): Place {
  const { scopes, profile, tools, file, environment, overrides } = layers;
  const strongest = [overrides, environment, file, tools, profile, scopes];
  const exact = strongest.find(({ tree }) => valueAt(tree, path) !== undefined);
  if (exact !== undefined && !insideList(path)) return exact.place(path, at);
  // A list comes whole from one layer: the one with the highest precedence that has it.
  const list = path.slice(
    0,
    path.findIndex((step) => typeof step === 'number'),
  );
  const owner = insideList(path) ? strongest.find(({ tree }) => valueAt(tree, list) !== undefined) : undefined;
  if (owner !== undefined) return owner.place(path, at);
  for (let around = path.slice(0, -1); around.length > 0; around = around.slice(0, -1)) {
    const layer = [file, environment, overrides, tools, profile, scopes].find(
      ({ tree }) => valueAt(tree, around) !== undefined,
    );
    if (layer !== undefined) return layer.place(around, 'key');
  }
  return file.place([], 'key');
}

function insideList(path: Path): boolean {
  return path.some((step) => typeof step === 'number');
}

/** Wraps settings made by code as a layer. Their places have no line. */
export function codeLayer(tree: Tree): Layer {
  return { tree, place: () => ({ file: 'overrides', line: 0, column: 0 }) };
}
