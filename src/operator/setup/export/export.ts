import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { LoadedConfig } from '../../../config/load.ts';
import { discoveryDocuments } from '../../../process/discovery-documents.ts';
import { fileOf, isOurs, nginxFile, siteHtaccess, wellKnownHtaccess } from './server-files.ts';

const NGINX = 'coursegate-nginx.conf';
const HTACCESS = '.well-known/.htaccess';

/**
 * Writes the documents of the gate to a folder as files, with what nginx and Apache need to serve them. Files of an
 * earlier export are replaced. Returns the paths of the files. Throws Error, before anything is written, if a file of
 * one of the names is there and not from an export.
 */
export async function exportDocuments(loaded: LoadedConfig, dir: string): Promise<readonly string[]> {
  const folder = resolve(dir);
  const { documents, preflight } = await discoveryDocuments(loaded);
  const placed = documents.map(({ path, headers }) => ({ path, headers, file: fileOf(path) }));
  const files: readonly (readonly [name: string, content: Buffer | string])[] = [
    // First, because it says later that the others are ours.
    [NGINX, nginxFile(folder, placed, preflight)],
    [HTACCESS, wellKnownHtaccess(placed, preflight)],
    ['coursegate-htaccess.txt', siteHtaccess(placed, preflight)],
    ...documents.map(({ path, body }) => [fileOf(path), body] as const),
  ];
  await refuseForeign(
    folder,
    files.map(([name]) => name),
  );
  const written: string[] = [];
  for (const [name, content] of files) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    written.push(path);
  }
  return written;
}

async function refuseForeign(folder: string, names: readonly string[]): Promise<void> {
  const textOf = (name: string) => readFile(join(folder, name), 'utf8').catch(() => undefined);
  const isExport = isOurs((await textOf(NGINX)) ?? '');
  for (const name of names) {
    const text = await textOf(name);
    if (text === undefined || isOurs(text) || (isExport && name !== HTACCESS)) continue;
    throw new Error(`${join(folder, name)} is not from an export. Choose another folder, and copy what you need.`);
  }
}
