import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const GO = [process.env.GO, '/usr/local/go/bin/go', '/usr/bin/go'].find(
  (path) => path !== undefined && existsSync(path),
);

/** How to install Go; undefined if it is installed. */
export const NO_GO = GO === undefined ? 'apt-get install golang-go, or set GO to its path' : undefined;

export function goVersion(): string | undefined {
  return GO === undefined ? undefined : execFileSync(GO, ['version'], { encoding: 'utf8' }).trim().split(' ')[2];
}

/** Builds one of the servers written in Go, which use the standard library only. Returns the path of the program. */
export async function goBuild(name: string, folder: string): Promise<string> {
  const program = join(folder, name);
  if (GO === undefined) throw new Error(`Go is not installed: ${NO_GO}`);
  if (!existsSync(program)) {
    const source = fileURLToPath(new URL(`servers/${name}/main.go`, import.meta.url));
    execFileSync(GO, ['build', '-o', program, source], {
      stdio: 'inherit',
      env: { ...process.env, GOFLAGS: '-mod=mod' },
    });
  }
  return program;
}
