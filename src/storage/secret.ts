import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** Where the secret of an embedded store is that made its own. */
export function secretPath(databasePath: string): string {
  return `${databasePath.replace(/\.[^./]+$/, '')}.secret`;
}

/**
 * The secrets of an embedded store whose operator named none: one is made, once, and kept beside the database,
 * owner-readable. In: the database's path. Out: the lines of the file; the first seals. Throws what the file system throws.
 */
export function secretsBeside(databasePath: string): readonly [string, ...string[]] {
  const path = secretPath(databasePath);
  try {
    writeFileSync(path, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
  const [first = '', ...further] = linesOf(path);
  return [first, ...further];
}

/** Puts a new secret before those in the file. Throws what the file system throws. */
export function addSecret(path: string): void {
  rewrite(path, [randomBytes(32).toString('base64url'), ...linesOf(path)]);
}

/** Takes all but the first out of the file. Out: how many. Throws what the file system throws. */
export function retireSecrets(path: string): number {
  const [first = '', ...old] = linesOf(path);
  if (old.length > 0) rewrite(path, [first]);
  return old.length;
}

function linesOf(path: string): readonly string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Whole or not at all: half a secret would open nothing. */
function rewrite(path: string, lines: readonly string[]): void {
  const draft = `${path}.${randomUUID()}.new`;
  writeFileSync(draft, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(draft, path);
}
