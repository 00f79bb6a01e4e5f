import { reason } from './account-files.ts';
import type { Finding } from './problems.ts';
import { FileTooLarge, type SourceFiles } from './source-files.ts';
import { type Tree, valueAt } from './tree.ts';

/** The logo shown next to the school's name. */
export interface Logo {
  readonly type: 'image/svg+xml' | 'image/png';
  readonly bytes: Buffer;
}

const LONGEST = 64 * 1024;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The root element, after an optional XML declaration, doctype and comments. */
const SVG = /^\uFEFF?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[\s\S]*?-->\s*|<!DOCTYPE[^>[]*>\s*)*<svg[\s/>]/i;

const PATH = ['pages', 'logo', 'file'];

/**
 * Reads the file of `pages.logo`. Takes the merged settings before they are validated. `value` is undefined when no
 * logo is configured or it cannot be used.
 */
export async function readLogo(
  tree: Tree,
  files: SourceFiles,
): Promise<{ value: Logo | undefined; findings: readonly Finding[] }> {
  const file = valueAt(tree, PATH);
  if (typeof file !== 'string' || file === '') return { value: undefined, findings: [] };
  const refused = (message: string) => ({
    value: undefined,
    findings: [{ path: PATH, at: 'value' as const, message }],
  });
  try {
    const bytes = await files.bytes(file, LONGEST);
    const type = typeOf(bytes);
    return type === undefined ? refused(`${file} is neither SVG nor PNG`) : { value: { type, bytes }, findings: [] };
  } catch (error) {
    if (error instanceof FileTooLarge)
      return refused(`${file} has ${error.size} bytes; at most ${LONGEST} (64 KiB) are allowed`);
    return refused(`cannot read ${file}: ${reason(error)}`);
  }
}

/** Detects the type by content, as browsers do: a file name can be wrong. */
function typeOf(bytes: Buffer): Logo['type'] | undefined {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  return SVG.test(bytes.toString('utf8')) ? 'image/svg+xml' : undefined;
}
