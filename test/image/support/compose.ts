import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { missing } from '../../support/missing.ts';

const run = promisify(execFile);
const LOADER = fileURLToPath(new URL('../compose', import.meta.url));

/** The part of a service that the tests run. */
export interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly entrypoint: readonly string[] | null;
  readonly command: readonly string[] | null;
  readonly environment: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly ports?: readonly { readonly host_ip: string; readonly published: string; readonly target: number }[];
  readonly volumes?: readonly {
    readonly type: 'bind' | 'volume';
    readonly source: string;
    readonly target: string;
    readonly read_only?: boolean;
  }[];
  readonly read_only?: boolean;
}

export interface Project {
  readonly name: string;
  readonly services: Readonly<Record<string, Service>>;
}

/** Whether Go is here, to build Compose's own loader with. Without it, the tests are skipped by name; in CI they fail. */
export function composePresent(): boolean {
  if (searchPath().some((folder) => existsSync(join(folder, 'go')))) return true;
  return missing('no go found: Compose files are read by Compose’s own loader, built with Go 1.26 (https://go.dev/dl)');
}

/**
 * Reads Compose files, of which later ones add to the first, with the loader of `docker compose`, which fills in
 * variables and holds them against the schema of the specification. Rejects with its complaint.
 */
export async function loadProject(
  files: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Project> {
  const env = { ...process.env, PATH: searchPath().join(delimiter), ...environment };
  const options = { cwd: LOADER, env, timeout: 10 * 60_000 };
  const { stdout } = await run('go', ['run', '-buildvcs=false', '.', ...files], options).catch(
    (error: { stderr: string }) => {
      throw new Error(error.stderr);
    },
  );
  return JSON.parse(stdout) as Project;
}

const searchPath = () => [...(process.env.PATH ?? '').split(delimiter), '/usr/local/go/bin'];
