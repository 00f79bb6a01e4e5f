import { chmodSync, copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the clone. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What other programs leave in folders when they run there. */
const NOT_OURS = /(?:^|\/)(?:__pycache__|node_modules|\..*)(?:\/|$)/;

/** The paths of all files below a folder, relative to it, sorted. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !NOT_OURS.test(path))
    .toSorted();
}

/** Copies files, with the same mode on every machine. Returns the paths of the copies. */
export function copyFiles(from: string, to: string, paths: readonly string[]): readonly string[] {
  return paths.map((path) => {
    const target = join(to, path);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(from, path), target);
    chmodSync(target, 0o644);
    return target;
  });
}

/** The files beside the sources that are not code but are read by it. */
export function filesBesideCode(): readonly string[] {
  return filesBelow(join(ROOT, 'src')).filter((path) => !path.endsWith('.ts'));
}

/** The threads, such as `storage/sqlite/check-thread`: each is the entry of its own bundle. */
export function threads(): readonly string[] {
  return filesBelow(join(ROOT, 'src'))
    .filter((path) => path.endsWith('-thread.ts'))
    .map((path) => path.slice(0, -'.ts'.length));
}
