import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toolPath } from '../support/tools.ts';

export function goVersion(): string | undefined {
  return execFileSync(toolPath('go'), ['version'], { encoding: 'utf8' }).trim().split(' ')[2];
}

/** Builds one of the servers written in Go, which use the standard library only. Returns the path of the program. */
export async function goBuild(name: string, folder: string): Promise<string> {
  const program = join(folder, name);
  if (!existsSync(program)) {
    const source = fileURLToPath(new URL(`servers/${name}/main.go`, import.meta.url));
    execFileSync(toolPath('go'), ['build', '-o', program, source], {
      stdio: 'inherit',
      env: { ...process.env, GOFLAGS: '-mod=mod' },
    });
  }
  return program;
}
