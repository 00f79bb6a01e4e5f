import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { missing } from '../support/missing.ts';

export const MIB = 1024 * 1024;

/** A disk that a test can fill: a file system in memory. */
export interface SmallDisk {
  /** False without the right to mount it, which only root has. */
  readonly isMounted: boolean;
  /** Where it is mounted. */
  readonly path: string;
  /** Free bytes. */
  free(): number;
  /** Fills it as another program would, except for this many bytes. */
  fillUpTo(left: number): void;
  /** Gives that room back. */
  empty(): void;
  close(): void;
}

/** Mounts one. @param mib its size */
export function smallDisk(mib: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), 'coursegate-disk-'));
  const isMounted = mounted(path, mib) || missing('the tests of a full disk need the right to mount one (root)', true);
  const ballast = join(path, 'ballast');
  const free = () => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  };
  return {
    isMounted,
    path,
    free,
    fillUpTo(left) {
      writeFileSync(ballast, '', { flag: 'a' });
      try {
        appendFileSync(ballast, Buffer.alloc(Math.max(0, free() - left)));
      } catch (thrown) {
        // A server has taken some of it in the meantime.
        if ((thrown as { readonly code?: string }).code !== 'ENOSPC') throw thrown;
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    close() {
      execFileSync('umount', [path]);
      rmSync(path, { recursive: true });
    },
  };
}

function mounted(path: string, mib: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'coursegate-test', path], { stdio: 'pipe' });
    // A database server has a user of its own.
    chmodSync(path, 0o755);
    return true;
  } catch {
    rmSync(path, { recursive: true });
    return false;
  }
}
