import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { draftOf, writeOnce } from '../new-file.ts';

/** The path of the secret that an embedded store generates for itself. */
export function secretPath(databasePath: string): string {
  return `${databasePath.replace(/\.[^./]+$/, '')}.secret`;
}

/**
 * The secrets of an embedded store for which the operator configured none. The first call generates one and saves it
 * next to the database, readable by the owner only. Returns the lines of the file; the first one seals. Throws file
 * system errors.
 */
export function secretsBeside(databasePath: string): readonly [string, ...string[]] {
  const path = secretPath(databasePath);
  writeOnce(path, randomBytes(32).toString('base64url'));
  const [first = '', ...further] = linesOf(path);
  return [first, ...further];
}

/** Adds a new secret as the first line of the file. Throws file system errors. */
export function addSecret(path: string): void {
  rewrite(path, [randomBytes(32).toString('base64url'), ...linesOf(path)]);
}

/** Removes all secrets but the first from the file and returns how many. Throws file system errors. */
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

/** Replaces the file atomically: half a secret would open nothing. */
function rewrite(path: string, lines: readonly string[]): void {
  const draft = draftOf(path);
  writeFileSync(draft, `${lines.join('\n')}\n`, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(draft, path);
}
