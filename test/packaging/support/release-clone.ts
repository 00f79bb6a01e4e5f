import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** A repository with the files of this work tree as its only commit, in which they are version 9.8.7. */
export interface ReleaseClone {
  readonly path: string;
  git(...words: readonly string[]): string;
  /** Runs packaging/release.ts in it, in a process with this umask. */
  release(options?: readonly string[], umask?: string): Promise<Ended>;
  remove(): void;
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function cloneForRelease(): ReleaseClone {
  const { path, git } = cloneOfTree('Release 9.8.7', (path) => {
    change(join(path, 'package.json'), (text) => text.replace(/"version": ".*"/, '"version": "9.8.7"'));
    change(join(path, 'CHANGELOG.md'), (text) => text.replace(/^## .*$/m, '## 9.8.7 - 2026-11-23'));
  });
  return {
    path,
    git,
    release: (options = [], umask = '022') => released(path, options, umask),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** A repository with the files of this work tree, changed by `prepare`, as its only commit. */
export function cloneOfTree(message: string, prepare: (path: string) => void = () => undefined) {
  const path = mkdtempSync(join(tmpdir(), 'coursegate-repository-'));
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@school.example', ...words], {
      cwd: path,
      encoding: 'utf8',
    }).trim();
  execFileSync(
    'sh',
    [
      '-c',
      `git ls-files -z --cached --others --exclude-standard | tar -c --null -T - --ignore-failed-read | tar -x -C "$1"`,
      'sh',
      path,
    ],
    { cwd: ROOT },
  );
  prepare(path);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', message);
  return { path, git };
}

/** Rewrites a file. */
export function change(file: string, by: (text: string) => string): void {
  writeFileSync(file, by(readFileSync(file, 'utf8')));
}

function released(cwd: string, options: readonly string[], umask: string): Promise<Ended> {
  const script = 'umask "$1"; shift; exec "$@"';
  const child = spawn('sh', ['-c', script, 'sh', umask, process.execPath, 'packaging/release.ts', ...options], { cwd });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, ...texts }));
  });
}
