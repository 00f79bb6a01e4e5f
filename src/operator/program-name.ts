import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { isSea } from 'node:sea';
import { shellWord } from './shell-word.ts';

/** What of the process decides the name; injected in tests. */
export interface Started {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The name that the single binary was started by; undefined if this is not the single binary. */
  readonly binary: string | undefined;
}

/**
 * What has to be typed to run this program, for lines that the operator may copy: `coursegate` where it is on the PATH,
 * and `npx coursegate` in a clone or a project that depends on it.
 */
export function programName({ environment, binary }: Started = startedAs()): string {
  if (binary !== undefined) return shellWord(binary);
  // npm puts node_modules/.bin on the PATH of what it runs, and only of that.
  if (environment.npm_execpath || environment.npm_command) return 'npx coursegate';
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.some((folder) => isProgram(join(folder, 'coursegate'))) ? 'coursegate' : 'npx coursegate';
}

function startedAs(): Started {
  return { environment: process.env, binary: isSea() ? process.argv0 : undefined };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
