import { type NamedSecrets, readNamed, secretReferences } from './secrets.ts';
import type { Environment } from './setting.ts';
import { formatPath, type Tree } from './tree.ts';

/** Reads every secret that `upstreams` names. Out: them by where they are named, as `formatPath` writes it. */
export async function readUpstreamSecrets(
  tree: Tree,
  environment: Environment,
  resolve: (path: string) => string,
): Promise<NamedSecrets> {
  const problemOf = (value: string) =>
    /^[\x21-\x7E]{8,4096}$/.test(value) ? undefined : 'must be 8 or more visible ASCII characters, without spaces';
  const named = await Promise.all(
    [...secretReferences(tree.upstreams, ['upstreams'])].map(
      async ({ path, reference }) =>
        [formatPath(path), await readNamed(reference, path, environment, resolve, problemOf)] as const,
    ),
  );
  return {
    values: new Map(named.flatMap(([place, { value }]) => (value === undefined ? [] : [[place, value] as const]))),
    findings: named.flatMap(([, { findings }]) => findings),
  };
}
