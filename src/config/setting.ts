import { merge, nest, type Tree } from './tree.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** One setting that an environment variable makes. */
export interface Setting {
  readonly variable: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Out: the settings as a tree, later ones over earlier ones. */
export function settingsTree(settings: readonly Setting[]): Tree {
  return settings.reduce<unknown>((tree, { path, value }) => merge(tree, nest(path, value)), {}) as Tree;
}
