import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Processor } from './node.ts';

const run = promisify(execFile);
const SOURCES = fileURLToPath(new URL('loader/', import.meta.url));
/** By the names of Debian. */
const TARGETS = {
  x64: { compiler: 'x86_64-linux-gnu-gcc', packages: 'gcc-x86-64-linux-gnu libstdc++6-amd64-cross' },
  arm64: { compiler: 'aarch64-linux-gnu-gcc', packages: 'gcc-aarch64-linux-gnu libstdc++6-arm64-cross' },
} as const;
const OPTIONS = [
  ...['-std=c11', '-Wall', '-Wextra', '-Werror', '-Os', '-s'],
  // It runs without a C library: nothing may call one, or expect that one has prepared the process.
  ...['-ffreestanding', '-nostdlib', '-fno-stack-protector', '-fno-tree-loop-distribute-patterns'],
  // It runs where the build puts it, before anything is relocated.
  ...['-static', '-fpie', '-fvisibility=hidden', '-fno-asynchronous-unwind-tables'],
  ...['-Wl,-T,layout.ld', '-Wl,--build-id=none', '-Wl,--no-warn-rwx-segments'],
];

/**
 * Compiles the loader for a processor, and reads the C++ libraries that the compiler comes with. Throws if the compiler is
 * missing, with the command that installs it.
 */
export async function loaderFor(processor: Processor) {
  const { compiler, packages } = TARGETS[processor];
  const folder = mkdtempSync(join(tmpdir(), 'coursegate-loader-'));
  try {
    const out = join(folder, 'loader');
    await run(compiler, [...OPTIONS, '-o', out, 'loader.c'], { cwd: SOURCES });
    const libraries = ['libstdc++.so.6', 'libgcc_s.so.1'].map(async (name) =>
      readFileSync((await run(compiler, [`-print-file-name=${name}`])).stdout.trim()),
    );
    return { loader: readFileSync(out), libraries: (await Promise.all(libraries)) as [Buffer, Buffer] };
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
    const instead = process.arch === processor ? 'gcc' : packages;
    throw new Error(`the binary for ${processor} needs ${compiler} and its libstdc++.so.6: apt-get install ${instead}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
