import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/** A released version, newest first. */
export interface Release {
  /** `1.2.0` */
  readonly name: string;
  /** `v1.2.0` */
  readonly tag: string;
}

/** The releases of a repository that have a site, by their tags, newest first. Earlier ones have none. */
export function releasesOf(repository: string): readonly Release[] {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' });
  return git('tag', '--list', 'v*', '--sort=-version:refname')
    .split('\n')
    .filter((tag) => /^v\d+\.\d+\.\d+$/.test(tag))
    .filter((tag) => git('ls-tree', '--name-only', tag, 'site/index.md') !== '')
    .map((tag) => ({ name: tag.slice(1), tag }));
}

/** Writes the files of a tag to a folder. */
export function checkOut(repository: string, tag: string, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', '--format=tar', tag], { cwd: repository, maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
}
