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

/** One layer of two files: what `above` does not have is that of `below`. */
export function extendedBy(below: YamlLayer, above: YamlLayer): YamlLayer {
  const tree = merge({ ...below.tree, extends: undefined }, above.tree) as Tree;
  const nested = below.tree.extends === undefined ? [] : [below.place(['extends'], 'key')];
  return {
    tree,
    problems: [
      ...above.problems,
      ...below.problems,
      ...nested.map((place) => ({
        ...place,
        path: 'extends',
        message: 'cannot be used in a file that another one extends',
      })),
    ],
    trusts: (path) => above.trusts(path) && below.trusts(path),
    place: (path, at) => ownerOf([above, below], path)?.place(path, at) ?? above.place(path, at),
  };
}

/** Merges the layers. Drops `profile` and `extends`, which have been applied by then, and `$schema`, which is for editors. */
export function mergeLayers({ scopes, profile, tools, file, environment, overrides }: Layers): Tree {
  const merged = [scopes, profile, tools, file, environment, overrides].reduce<unknown>(
    (below, { tree }) => merge(below, tree),
    {},
  );
  const { profile: _, $schema: __, extends: ___, ...rest } = merged as Record<string, unknown>;
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
  const owner = ownerOf(strongest, path);
  if (owner !== undefined) return owner.place(path, at);
  for (let around = path.slice(0, -1); around.length > 0; around = around.slice(0, -1)) {
    const layer = [file, environment, overrides, tools, profile, scopes].find(
      ({ tree }) => valueAt(tree, around) !== undefined,
    );
    if (layer !== undefined) return layer.place(around, 'key');
  }
  return file.place([], 'key');
}

/** The first layer that has the setting. A list comes whole from one layer. */
function ownerOf(strongest: readonly Layer[], path: Path): Layer | undefined {
  const index = path.findIndex((step) => typeof step === 'number');
  const whole = index === -1 ? path : path.slice(0, index);
  return strongest.find(({ tree }) => valueAt(tree, whole) !== undefined);
}

/** Wraps settings made by code as a layer. Their places have no line. */
export function codeLayer(tree: Tree): Layer {
  return { tree, place: () => ({ file: 'overrides', line: 0, column: 0 }) };
}
