/**
 * Where the product's own files are: configuration layers, schema, drop-ins and threads. There are three kinds of
 * installation. In a clone and in the npm package, the code runs from its folders (`src`, `dist`). In a bundle, it is one
 * file in `lib`. In the single binary, there are no files: they are assets of the executable, whose paths are given as if
 * the executable were the installation's folder, a path that no file on disk can have.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import sea from 'node:sea';
import { fileURLToPath } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

const THIS_FILE = fileURLToPath(import.meta.url);
const EXTENSION = extname(THIS_FILE);
const IS_BINARY = sea.isSea();
/** Bundles have the same name for it as their assets in the binary. */
const CODE = IS_BINARY ? 'lib' : basename(dirname(THIS_FILE));
const ROOT = IS_BINARY ? process.execPath : dirname(dirname(THIS_FILE));

/** Whether the sources run, as in a clone, where the demo keeps its data beside them. */
export const RUNS_SOURCES = !IS_BINARY && EXTENSION === '.ts';

/** The absolute path of a file or folder of the installation, such as `config/scopes.yaml`. */
export function installedPath(path: string): string {
  return join(ROOT, path);
}

/** The absolute path of a file or folder beside the code, such as `operator/demo`. */
export function codePath(path: string): string {
  return join(ROOT, CODE, path);
}

/** Where a person can open a document such as `docs/doctor.md`: its path on this machine, if it is installed here. */
export function documentPath(document: string): string {
  const path = installedPath(document);
  return !IS_BINARY && existsSync(path) ? path : document;
}

/** Whether an absolute path belongs to the single binary's assets, so that node:fs cannot read it. */
export function isAsset(path: string): boolean {
  return IS_BINARY && path.startsWith(ROOT + sep);
}

/** Reads a file of the installation, by its absolute path. Throws an error with the code ENOENT if it does not exist. */
export function readInstalled(path: string): Buffer {
  if (!isAsset(path)) return readFileSync(path);
  const key = relative(ROOT, path);
  if (sea.getAssetKeys().includes(key)) return Buffer.from(sea.getRawAsset(key));
  throw Object.assign(new Error(`The executable has no file ${key}.`), { code: 'ENOENT' });
}

/** The paths of all files below a folder of the installation, relative to it, sorted. */
export function installedFiles(folder: string): readonly string[] {
  const files = isAsset(folder)
    ? sea
        .getAssetKeys()
        .map((key) => relative(folder, join(ROOT, key)))
        .filter((path) => !path.startsWith('..'))
    : readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  return files.toSorted();
}

/** Starts a thread that runs a file of the code, such as `storage/sqlite/check-thread`. */
export function startThread(name: string, options: WorkerOptions): Worker {
  const file = codePath(`${name}${EXTENSION}`);
  // An executable has no name that ends like its code.
  if (IS_BINARY) return new Worker(readInstalled(codePath(`${name}.cjs`)).toString('utf8'), { ...options, eval: true });
  return new Worker(file, options);
}
