import { lstat, readlink } from 'node:fs/promises';
import { dirname, isAbsolute, join, parse, sep } from 'node:path';

/** Folders to watch, and the names in each whose change matters; `all` for any name. */
export type WatchedFolders = ReadonlyMap<string, ReadonlySet<string> | 'all'>;

/** The most symbolic links followed for one path, as in Linux. */
const MOST_LINKS = 40;

/**
 * Where a change of these paths is visible: in the folder of each file, and in the folder of every symbolic link on the
 * way to it, since a mounted ConfigMap or Secret changes by replacing a link (`..data`). A watch on the file itself
 * would stay on the old file. For a missing file, the nearest existing folder.
 */
export async function placesOf(
  asked: readonly { readonly path: string; readonly kind: 'file' | 'folder' }[],
): Promise<WatchedFolders> {
  const places = new Map<string, Set<string> | 'all'>();
  const note = (folder: string, name: string): void => {
    const names = places.get(folder) ?? new Set();
    if (names !== 'all') places.set(folder, names.add(name));
  };
  for (const { path, kind } of asked) {
    const end = await walk(path, note);
    if (kind === 'folder' && end !== undefined) places.set(end, 'all');
  }
  return places;
}

/** Resolves to the real path; undefined when it does not exist. */
async function walk(path: string, note: (folder: string, name: string) => void): Promise<string | undefined> {
  let { root: folder } = parse(path);
  let left = path.slice(folder.length).split(sep).filter(Boolean);
  for (let links = 0; ; ) {
    const name = left.shift();
    if (name === undefined) return folder;
    if (name === '..') {
      folder = dirname(folder);
      continue;
    }
    const here = join(folder, name);
    const stats = await lstat(here).catch(() => undefined);
    const isLink = stats?.isSymbolicLink() === true;
    if (stats === undefined || isLink || left.length === 0) note(folder, name);
    if (stats === undefined) return undefined;
    if (!isLink) {
      folder = here;
      continue;
    }
    if (++links > MOST_LINKS) return undefined;
    const target = await readlink(here).catch(() => '');
    left = [...target.split(sep).filter((step) => step !== '' && step !== '.'), ...left];
    if (isAbsolute(target)) folder = parse(target).root;
  }
}
