import { merge, nest, type Tree } from './tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting made by an environment variable. */
export interface Setting {
  readonly variable: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Merges the settings into a tree. Later ones override earlier ones. */
export function settingsTree(settings: readonly Setting[]): Tree {
  return settings.reduce<unknown>((tree, { path, value }) => merge(tree, nest(path, value)), {}) as Tree;
}
