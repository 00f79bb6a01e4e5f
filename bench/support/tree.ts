import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { THIS_TREE } from './gate.ts';

/** The source of another commit. */
export interface Tree {
  readonly path: string;
  /** The commit, abbreviated. */
  readonly commit: string;
  remove(): void;
}

/** Checks a commit out as a git worktree in `folder`, with the packages of this checkout. */
export function checkOut(revision: string, folder: string): Tree {
  const commit = git('rev-parse', '--short', `${revision}^{commit}`);
  const path = join(folder, `tree-${commit}`);
  if (!existsSync(path)) {
    git('worktree', 'add', '--detach', '--force', path, commit);
    symlinkSync(join(THIS_TREE, 'node_modules'), join(path, 'node_modules'));
  }
  return { path, commit, remove: () => void git('worktree', 'remove', '--force', path) };
}

/** Whether the commit is in this clone. */
export function hasCommit(revision: string): boolean {
  try {
    git('cat-file', '-e', `${revision}^{commit}`);
    return true;
  } catch {
    return false;
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', THIS_TREE, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}
