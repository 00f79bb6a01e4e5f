import { reason } from '../account/settings-files.ts';
import { sizeText } from '../http/amounts.ts';
import type { UntracedProblem } from './problems.ts';
import { FileTooLarge, type SourceFiles } from './source-files.ts';
import { type Path, type Tree, valueAt } from './tree.ts';

/** What is wrong with a file: in `readNamedFile`, to follow its name. */
export class UnusableFile extends Error {
  override readonly name = 'UnusableFile';
}

interface NamedFile<T> {
  /** Undefined when no file is named or it cannot be used. */
  readonly value: T | undefined;
  readonly findings: readonly UntracedProblem[];
}

/**
 * Reads the file that a setting names. Takes the merged settings before they are validated. `most` is in bytes; `parse`
 * throws an UnusableFile.
 */
export async function readNamedFile<T>(
  tree: Tree,
  path: Path,
  files: SourceFiles,
  parse: (bytes: Buffer, file: string) => T,
  most = Number.POSITIVE_INFINITY,
): Promise<NamedFile<T>> {
  const file = valueAt(tree, path);
  if (typeof file !== 'string' || file === '') return { value: undefined, findings: [] };
  try {
    return { value: parse(await files.bytes(file, most), file), findings: [] };
  } catch (error) {
    const message =
      error instanceof UnusableFile
        ? `${file}${error.message}`
        : error instanceof FileTooLarge
          ? `${file} has ${error.size} bytes; at most ${most} (${sizeText(most)}) are allowed`
          : `cannot read ${file}: ${reason(error)}`;
    return { value: undefined, findings: [{ path, at: 'value', message }] };
  }
}
