import { reason } from './account-files.ts';
import { type Layer, readYaml } from './document.ts';
import type { Finding, Problem } from './problems.ts';
import type { SourceFiles } from './source-files.ts';
import { type Tree, valueAt } from './tree.ts';

interface ToolsFile {
  readonly layer: Layer;
  readonly problems: readonly Problem[];
  readonly findings: readonly Finding[];
}

/**
 * Reads the file that `mcp.file` names, as settings under `mcp`. The layer is empty when no file is named or it cannot
 * be read or parsed.
 */
export async function readToolsFile(settings: Tree, files: SourceFiles): Promise<ToolsFile> {
  const file = valueAt(settings, ['mcp', 'file']);
  const nothing: Layer = { tree: {}, place: () => ({ file: String(file), line: 0, column: 0 }) };
  if (typeof file !== 'string' || file === '') return { layer: nothing, problems: [], findings: [] };
  let text: string;
  try {
    text = await files.text(file);
  } catch (error) {
    const message = `cannot read ${file}: ${reason(error)}`;
    return { layer: nothing, problems: [], findings: [{ path: ['mcp', 'file'], at: 'value', message }] };
  }
  const { tree, problems, place } = readYaml(files.resolve(file), text);
  // After a syntax error the parser guesses, so its tree is not validated.
  const layer: Layer = {
    tree: problems.length > 0 ? {} : { mcp: tree },
    place: (path, at) => place(path.slice(1), at),
  };
  return { layer, problems, findings: [] };
}
