import { reason } from './account-files.ts';
import { readYaml } from './document.ts';
import type { Finding } from './problems.ts';
import { FileTooLarge, type SourceFiles } from './source-files.ts';
import { isTree, type Path, type Tree, valueAt } from './tree.ts';

const LARGEST = 4 * 1024 ** 2;
/** Recursive functions walk these documents, so their depth is limited. */
const DEEPEST = 128;

/**
 * Reads the OpenAPI documents that `upstreams.*.openapi.file` names. Takes the merged settings before they are
 * validated. `values` is keyed by upstream.
 */
export async function readUpstreamDocuments(
  tree: Tree,
  files: SourceFiles,
): Promise<{ values: ReadonlyMap<string, Tree>; findings: readonly Finding[] }> {
  const values = new Map<string, Tree>();
  const findings: Finding[] = [];
  for (const name of Object.keys(isTree(tree.upstreams) ? tree.upstreams : {})) {
    const path: Path = ['upstreams', name, 'openapi', 'file'];
    const file = valueAt(tree, path);
    if (typeof file !== 'string' || file === '') continue;
    const wrong = (message: string) => findings.push({ path, at: 'value', message });
    try {
      const bytes = await files.bytes(file, LARGEST);
      const document = readYaml(files.resolve(file), bytes.toString('utf8'));
      const [problem] = document.problems;
      const message =
        problem === undefined ? openapiProblem(document.tree) : `line ${problem.line}: ${problem.message}`;
      if (message === undefined) values.set(name, document.tree);
      else wrong(`${file}: ${message}`);
    } catch (error) {
      if (error instanceof FileTooLarge)
        wrong(`${file} has ${error.size} bytes; at most ${LARGEST} (4 MiB) are allowed`);
      else wrong(`cannot read ${file}: ${reason(error)}`);
    }
  }
  return { values, findings };
}

/** Says why operations cannot be read from a document; undefined when they can. */
export function openapiProblem(document: unknown): string | undefined {
  if (!isTree(document)) return 'is not an OpenAPI document';
  if (document.swagger !== undefined) return 'is a Swagger 2 document: convert it to OpenAPI 3';
  if (typeof document.openapi !== 'string' || !/^3\.[01]\.\d/.test(document.openapi)) {
    return 'is not an OpenAPI document of version 3.0 or 3.1';
  }
  if (isDeeperThan(document, DEEPEST)) return 'is nested too deeply';
  return isTree(document.paths) ? undefined : 'has no paths';
}

function isDeeperThan(node: unknown, levels: number): boolean {
  if (typeof node !== 'object' || node === null) return false;
  return levels === 0 || Object.values(node).some((one) => isDeeperThan(one, levels - 1));
}
