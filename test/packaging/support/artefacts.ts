import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { filesBelow, ROOT } from '../../../packaging/files.ts';
import { missing } from '../../support/missing.ts';

const run = promisify(execFile);
const BUILDER = fileURLToPath(new URL('build-artefacts.ts', import.meta.url));
const INPUTS = ['config', 'integrations', 'packaging', 'schema', 'src'];
const TOOLS = {
  'x86_64-linux-gnu-gcc': 'gcc',
  'aarch64-linux-gnu-gcc': 'gcc-aarch64-linux-gnu libstdc++6-arm64-cross',
  'qemu-aarch64-static': 'qemu-user-static',
};

/**
 * Whether the binaries can be built here. Without the programs, their tests are skipped by name, with instructions. In CI
 * they fail instead, since a green run must mean that they ran.
 */
export function builderPresent(): boolean {
  const folders = (process.env.PATH ?? '').split(':');
  const lacking = Object.entries(TOOLS).filter(([tool]) => !folders.some((folder) => existsSync(join(folder, tool))));
  if (lacking.length === 0 && process.arch === 'x64') return true;
  const packages = lacking.map(([, name]) => name).join(' ');
  return missing(
    `the single binaries are built on x64 with ${Object.keys(TOOLS).join(', ')} (apt-get install ${packages})`,
  );
}

/** The folders with the bundle and with the binaries of this clone: built once, until something in it changes. */
export async function builtArtefacts(): Promise<{ readonly bundle: string; readonly binaries: string }> {
  const digest = createHash('sha256');
  const below = INPUTS.flatMap((folder) => filesBelow(join(ROOT, folder)).map((path) => join(folder, path)));
  for (const path of [...below, 'LICENSE', 'package.json', 'package-lock.json']) {
    digest.update(`${path}\n`).update(readFileSync(join(ROOT, path)));
  }
  const folder = join(ROOT, 'node_modules/.cache/coursegate-artefacts', digest.digest('hex').slice(0, 16));
  if (!existsSync(folder)) {
    mkdirSync(dirname(folder), { recursive: true });
    // A second test file that needs the same waits for the first one.
    await run('flock', [join(dirname(folder), 'lock'), process.execPath, BUILDER, folder]);
  }
  return { bundle: join(folder, 'bundle'), binaries: join(folder, 'binary') };
}
