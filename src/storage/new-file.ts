import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** A temporary name next to `path`, for writing a file that must appear atomically. */
export function draftOf(path: string): string {
  return `${path}.${randomUUID()}.new`;
}

/** Writes a file that only its owner can read. An existing file is left as it is, and not even opened. */
export function writeOnce(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  }
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
