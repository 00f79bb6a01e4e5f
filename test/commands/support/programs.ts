import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { missing } from '../../support/missing.ts';

/**
 * Whether a program is on this machine. Tests without it are skipped with a message that names the Debian package; in CI
 * this is an error.
 */
export function programPresent(name: string, debianPackage: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter);
  if (folders.some((folder) => existsSync(join(folder, name)))) return true;
  return missing(`${name} not found: apt-get install ${debianPackage}`);
}
