import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildTime } from './build-time.ts';
import { notice } from './notice.ts';
import { packagesOf } from './packages.ts';
import { sbom } from './sbom.ts';

/**
 * Writes what has to go along with a bundle: `NOTICE`, the licences of the packages in it, and `sbom.cdx.json`, their list.
 *
 * @param out - The folder of the bundle.
 * @param modules - The bundler's input files, absolute or relative to the clone.
 * @returns The files written.
 * @throws If a package has no licence text, or a licence that is not allowed.
 */
export function describeBundle({
  out,
  modules,
}: {
  readonly out: string;
  readonly modules: readonly string[];
}): readonly string[] {
  const packages = packagesOf(modules);
  const files = { [join(out, 'NOTICE')]: notice(packages), [join(out, 'sbom.cdx.json')]: sbom(packages, buildTime()) };
  for (const [file, text] of Object.entries(files)) writeFileSync(file, text);
  return Object.keys(files);
}
