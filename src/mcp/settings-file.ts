import { type Layer, readYaml } from '../config/document.ts';
import { readNamedFile } from '../config/named-file.ts';
import type { Problem, UntracedProblem } from '../config/problems.ts';
import type { SourceFiles } from '../config/source-files.ts';
import type { Tree } from '../config/tree.ts';

interface ToolsFile {
  readonly layer: Layer;
  readonly problems: readonly Problem[];
  readonly findings: readonly UntracedProblem[];
}

/**
 * Reads the file that `mcp.file` names, as settings under `mcp`. The layer is empty when no file is named or it cannot
 * be read or parsed.
 */
export async function readToolsFile(settings: Tree, files: SourceFiles): Promise<ToolsFile> {
  const parse = (bytes: Buffer, file: string) => readYaml(files.resolve(file), bytes.toString('utf8'));
  const { value, findings } = await readNamedFile(settings, ['mcp', 'file'], files, parse);
  if (value === undefined) return { layer: { tree: {}, place: () => NOWHERE }, problems: [], findings };
  const { tree, problems, place } = value;
  // After a syntax error the parser guesses, so its tree is not validated.
  const layer: Layer = {
    tree: problems.length > 0 ? {} : { mcp: tree },
    place: (path, at) => place(path.slice(1), at),
  };
  return { layer, problems, findings };
}

const NOWHERE = { file: '', line: 0, column: 0 };
