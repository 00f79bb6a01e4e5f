import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';

/** Where a file grows that is to appear at `path` whole or not at all: beside it, under a name nobody looks for. */
export function draftOf(path: string): string {
  return `${path}.${randomUUID()}.new`;
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/** Gives a finished draft its name. Throws EEXIST when something stands there: nothing is ever written over. */
export function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (thrown) {
    // File systems without hard links (some mounted from another machine): there the look and the move are two steps.
    if (existsSync(path) || !NO_LINKS.has(String((thrown as NodeJS.ErrnoException).code))) throw thrown;
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
