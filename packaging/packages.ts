import { readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { ROOT } from './files.ts';

/** The parts of a package.json that NOTICE, the SBOM and the provenance use. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly repository?: string | { readonly url?: string };
}

/** A package in `node_modules`. */
export interface InstalledPackage {
  /** Relative to the clone, as in package-lock.json: `node_modules/a/node_modules/b`. */
  readonly folder: string;
  readonly manifest: Manifest;
  /** The lock file's hash of its archive, such as `sha512-…`. */
  readonly integrity: string;
}

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  readonly packages: Readonly<Record<string, { readonly integrity?: string }>>;
};

/** The manifest of coursegate itself, or of the package in a folder of the clone. */
export function manifestIn(folder = ''): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
}

/**
 * The packages that a bundler's modules come from, sorted by folder. Modules outside `node_modules` are left out.
 *
 * @param modules - Paths of files, absolute or relative to the clone.
 */
export function packagesOf(modules: readonly string[]): readonly InstalledPackage[] {
  const folders = modules.map((path) => folderOf(relative(ROOT, isAbsolute(path) ? path : resolve(ROOT, path))));
  return sorted(folders.filter((folder) => folder !== undefined));
}

/** The packages that npm installs with coursegate: its dependencies and theirs, sorted by folder. */
export function productionPackages(): readonly InstalledPackage[] {
  const found = new Set<string>();
  const visit = (from: string) => {
    for (const folder of requiredBy(from)) {
      if (found.has(folder)) continue;
      found.add(folder);
      visit(folder);
    }
  };
  visit('');
  return sorted([...found]);
}

/** The folders of the packages that a package needs, as Node resolves them. Optional ones that are not installed are left out. */
export function requiredBy(folder: string): readonly string[] {
  const { dependencies, optionalDependencies, peerDependencies } = manifestIn(folder);
  const own = folder === '' ? {} : peerDependencies;
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...own });
  return names.map((name) => resolved(folder, name)).filter((one) => one !== undefined);
}

function resolved(from: string, name: string): string | undefined {
  for (let at = from; ; at = dirname(dirname(at))) {
    const folder = join(at === '.' ? '' : at, 'node_modules', name);
    if (Object.hasOwn(lock.packages, folder)) return folder;
    if (at === '' || at === '.') return undefined;
  }
}

/** `node_modules/a/node_modules/@b/c` of a file in it. */
function folderOf(file: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file)?.[0];
}

function sorted(folders: readonly string[]): readonly InstalledPackage[] {
  return [...new Set(folders)].sort().map((folder) => {
    const { integrity } = lock.packages[folder] ?? {};
    if (integrity === undefined) throw new Error(`package-lock.json has no hash of ${folder}: run npm ci`);
    return { folder, manifest: manifestIn(folder), integrity };
  });
}
