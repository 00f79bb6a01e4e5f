import { readNamedFile, UnusableFile } from './named-file.ts';
import type { SourceFiles } from './source-files.ts';
import type { Tree } from './tree.ts';

/** The logo shown next to the school's name. */
export interface Logo {
  readonly type: 'image/svg+xml' | 'image/png';
  readonly bytes: Buffer;
}

const LONGEST = 64 * 1024;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** The root element, after an optional XML declaration, doctype and comments. */
const SVG = /^\uFEFF?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--[\s\S]*?-->\s*|<!DOCTYPE[^>[]*>\s*)*<svg[\s/>]/i;

/** Reads the file of `pages.logo`. */
export function readLogo(tree: Tree, files: SourceFiles) {
  const parse = (bytes: Buffer): Logo => {
    const type = typeOf(bytes);
    if (type === undefined) throw new UnusableFile(' is neither SVG nor PNG');
    return { type, bytes };
  };
  return readNamedFile(tree, ['pages', 'logo'], files, parse, LONGEST);
}

/** Detects the type by content, as browsers do: a file name can be wrong. */
function typeOf(bytes: Buffer): Logo['type'] | undefined {
  if (bytes.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  return SVG.test(bytes.toString('utf8')) ? 'image/svg+xml' : undefined;
}
