import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

/** Where the secret of an embedded store is that made its own. */
export function secretPath(databasePath: string): string {
  return `${databasePath.replace(/\.[^./]+$/, '')}.secret`;
}

/**
 * The secret of an embedded store whose operator named none: made once, kept beside the database, owner-readable.
 * In: the database's path. Out: the secret. Throws what the file system throws.
 */
export function secretBeside(databasePath: string): string {
  const path = secretPath(databasePath);
  try {
    writeFileSync(path, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
  return readFileSync(path, 'utf8').trim();
}
