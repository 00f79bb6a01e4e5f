import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { copyFiles, filesBelow, filesBesideCode, ROOT } from '../files.ts';

/**
 * Compiles `src` to JavaScript for the npm package, because Node does not run TypeScript below node_modules. The folder
 * has the same depth as `src`. Returns the paths of the files.
 */
export async function buildDist({ out = join(ROOT, 'dist') } = {}): Promise<readonly string[]> {
  const emitted = mkdtempSync(join(ROOT, 'node_modules/.coursegate-dist-'));
  try {
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    execFileSync(tsc, ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', emitted], { stdio: 'inherit' });
    const code = join(emitted, 'src');
    for (const path of filesBelow(code).filter((one) => one.endsWith('.map'))) nameSource(join(code, path), path);
    rmSync(out, { recursive: true, force: true });
    copyFiles(code, out, filesBelow(code));
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
  copyFiles(join(ROOT, 'src'), out, filesBesideCode());
  return filesBelow(out).map((path) => join(out, path));
}

/** Lines that are only a comment. Without them, a tenth less is downloaded, and the numbers of the lines are the same. */
const COMMENTS = /^ *(?:\/\/|\/\*\*|\*(?:[ /]|$)).*$/gm;

/** The compiler writes where the source is relative to its own output. In stack traces, it is to be `src/...`. */
function nameSource(file: string, path: string): void {
  const map = JSON.parse(readFileSync(file, 'utf8'));
  const source = join('../src', path.replace(/\.js\.map$/, '.ts'));
  const sourcesContent = map.sourcesContent.map((text: string) => text.replace(COMMENTS, ''));
  writeFileSync(file, JSON.stringify({ ...map, sources: [relative(dirname(path), source)], sourcesContent }));
}
