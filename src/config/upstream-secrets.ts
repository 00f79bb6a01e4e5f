import { type NamedSecrets, readNamed, secretReferences } from './secrets.ts';
import type { Environment } from './setting.ts';
import type { SourceFiles } from './source-files.ts';
import { formatPath, isTree, type Tree, valueAt } from './tree.ts';

/** Reads the secrets that the `credential` of each upstream refers to. `values` is keyed by path (see `formatPath`). */
export async function readUpstreamSecrets(
  tree: Tree,
  environment: Environment,
  files: SourceFiles,
): Promise<NamedSecrets> {
  const problemOf = (value: string) =>
    /^[\x21-\x7E]{8,4096}$/.test(value) ? undefined : 'must have at least 8 visible ASCII characters, without spaces';
  const places = Object.keys(isTree(tree.upstreams) ? tree.upstreams : {}).map((name) => [
    'upstreams',
    name,
    'credential',
  ]);
  const references = places.flatMap((path) => [...secretReferences(valueAt(tree, path), path)]);
  const named = await Promise.all(
    references.map(
      async ({ path, reference }) =>
        [formatPath(path), await readNamed(reference, path, environment, files, problemOf)] as const,
    ),
  );
  return {
    values: new Map(named.flatMap(([place, { value }]) => (value === undefined ? [] : [[place, value] as const]))),
    findings: named.flatMap(([, { findings }]) => findings),
  };
}
