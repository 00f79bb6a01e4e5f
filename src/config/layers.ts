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
  // A list comes whole from one layer: the one with the highest precedence that has it.
  const index = path.findIndex((step) => typeof step === 'number');
  const whole = index === -1 ? path : path.slice(0, index);
  const owner = strongest.find(({ tree }) => valueAt(tree, whole) !== undefined);
  if (owner !== undefined) return owner.place(path, at);
  for (let around = path.slice(0, -1); around.length > 0; around = around.slice(0, -1)) {
    const layer = [file, environment, overrides, tools, profile, scopes].find(
      ({ tree }) => valueAt(tree, around) !== undefined,
    );
    if (layer !== undefined) return layer.place(around, 'key');
  }
  return file.place([], 'key');
}

/** Wraps settings made by code as a layer. Their places have no line. */
export function codeLayer(tree: Tree): Layer {
  return { tree, place: () => ({ file: 'overrides', line: 0, column: 0 }) };
}
