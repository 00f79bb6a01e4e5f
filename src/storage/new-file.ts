import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync } from 'node:fs';

/** A temporary name next to `path`, for writing a file that must appear atomically. */
export function draftOf(path: string): string {
  return `${path}.${randomUUID()}.new`;
}

const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Moves a finished draft to its final name. Throws EEXIST if that name is taken: existing files are never overwritten.
 */
export function publish(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (thrown) {
    // File systems without hard links (some network mounts): there the check and the rename are two separate steps.
    if (existsSync(path) || !NO_LINKS.has(String((thrown as NodeJS.ErrnoException).code))) throw thrown;
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
