import { readYaml } from '../config/document.ts';
import { readNamedFile, UnusableFile } from '../config/named-file.ts';
import type { SourceFiles } from '../config/source-files.ts';
import { keysAt, type Tree } from '../config/tree.ts';
import { isObject } from '../http/json-object.ts';

const LARGEST = 4 * 1024 ** 2;
/** Recursive functions walk these documents, so their depth is limited. */
const DEEPEST = 128;

/** Reads the OpenAPI documents that `upstreams.*.openapi.file` names. `values` is keyed by upstream. */
export async function readUpstreamDocuments(tree: Tree, files: SourceFiles) {
  const names = keysAt(tree, ['upstreams']);
  const read = await Promise.all(
    names.map((name) => readNamedFile(tree, ['upstreams', name, 'openapi', 'file'], files, parseDocument, LARGEST)),
  );
  return {
    values: new Map(read.flatMap(({ value }, at) => (value === undefined ? [] : [[names[at] ?? '', value] as const]))),
    findings: read.flatMap(({ findings }) => findings),
  };
}

function parseDocument(bytes: Buffer, file: string): Tree {
  const { tree, problems } = readYaml(file, bytes.toString('utf8'));
  const [problem] = problems;
  const wrong = problem === undefined ? openapiProblem(tree) : `line ${problem.line}: ${problem.message}`;
  if (wrong !== undefined) throw new UnusableFile(`: ${wrong}`);
  return tree;
}

/** Says why operations cannot be read from a document; undefined when they can. */
function openapiProblem(document: unknown): string | undefined {
  if (!isObject(document)) return 'is not an OpenAPI document';
  if (document.swagger !== undefined) return 'is a Swagger 2 document: convert it to OpenAPI 3';
  if (typeof document.openapi !== 'string' || !/^3\.[01]\.\d/.test(document.openapi))
    return 'is not an OpenAPI document of version 3.0 or 3.1';
  if (isDeeperThan(document, DEEPEST)) return 'is nested too deeply';
  return isObject(document.paths) ? undefined : 'has no paths';
}

function isDeeperThan(node: unknown, levels: number): boolean {
  if (typeof node !== 'object' || node === null) return false;
  return levels === 0 || Object.values(node).some((one) => isDeeperThan(one, levels - 1));
}
