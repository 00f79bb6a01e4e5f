import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Processor } from '../../../packaging/binary/node.ts';
import { missing } from '../../support/missing.ts';
import { type WatchedProcess, watchProcess } from '../../support/watched.ts';

/** glibc: its loader, and the parts of it that Node names. Where each processor's loader is, is part of its ABI. */
const GLIBC = {
  x64: { folder: 'lib/x86_64-linux-gnu', loader: 'lib64/ld-linux-x86-64.so.2', from: '/' },
  arm64: { folder: 'lib', loader: 'lib/ld-linux-aarch64.so.1', from: '/usr/aarch64-linux-gnu' },
} as const;
const PARTS = ['libc.so.6', 'libdl.so.2', 'libm.so.6', 'libpthread.so.0'];
const NOBODY = 65534;

export interface EmptyRoot {
  /** The folder where this machine sees its files. Below it, only `data` can be written to by the binary. */
  readonly path: string;
  /** Starts `coursegate ...` as an account without rights. It has the network of this machine. */
  start(args: readonly string[], environment?: Readonly<Record<string, string>>): WatchedProcess;
  /** Starts it and waits for its end. */
  run(
    args: readonly string[],
    environment?: Readonly<Record<string, string>>,
  ): Promise<{ readonly code: number | NodeJS.Signals; readonly stdout: string; readonly stderr: string }>;
  remove(): void;
}

/** Whether a root can be made here. Without permission to mount, its tests are skipped. */
export function mountsPermitted(): boolean {
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stdio: 'ignore' });
    return true;
  } catch {
    return missing('tests in an empty root need the right to mount (root)', true);
  }
}

/**
 * A root with the binary, glibc, `certificates` as the system's authorities (PEM), and an empty folder `data`; /proc is
 * mounted, and there is nothing else. A binary for another processor runs under QEMU, which is one more file.
 */
export function emptyRoot(binary: string, processor: Processor, certificates = ''): EmptyRoot {
  const path = mkdtempSync(join(tmpdir(), 'coursegate-root-'));
  chmodSync(path, 0o755);
  const at = (name: string) => join(path, name);
  const { folder, loader, from } = GLIBC[processor];
  for (const name of [folder, dirname(loader), 'etc/ssl/certs', 'proc', 'data']) {
    mkdirSync(at(name), { recursive: true });
  }
  chownSync(at('data'), NOBODY, NOBODY);
  const libraries = processor === 'arm64' ? join(from, 'lib') : join(from, folder);
  for (const name of PARTS) copyFileSync(join(libraries, name), at(join(folder, name)));
  copyFileSync(join(from, loader), at(loader));
  if (certificates !== '') writeFileSync(at('etc/ssl/certs/ca-certificates.crt'), certificates);
  place(binary, at('coursegate'));
  const emulated = process.arch !== processor;
  if (emulated) place(emulator(), at('qemu'));

  const start: EmptyRoot['start'] = (args, environment = {}) => {
    const program = [...(emulated ? ['/qemu'] : []), '/coursegate', ...args];
    const script = `mount -t proc proc ${path}/proc && exec chroot --userspec=${NOBODY}:${NOBODY} ${path} "$@"`;
    const child = spawn('unshare', ['--mount', 'sh', '-c', script, 'sh', ...program], {
      env: { PATH: process.env.PATH ?? '', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return watchProcess(child);
  };
  return {
    path,
    start,
    async run(args, environment) {
      const ran = start(args, environment);
      const code = await ran.exited;
      return { code, stdout: ran.stdout(), stderr: ran.stderr() };
    },
    remove: () => rmSync(path, { recursive: true }),
  };
}

function emulator(): string {
  const found = (process.env.PATH ?? '').split(':').map((folder) => join(folder, 'qemu-aarch64-static'));
  const there = found.find((path) => existsSync(path));
  if (there === undefined) throw new Error('no qemu-aarch64-static: apt-get install qemu-user-static');
  return there;
}

/** A hard link where that is possible: the binary has more than a hundred megabytes. */
function place(file: string, target: string): void {
  try {
    linkSync(file, target);
  } catch {
    copyFileSync(file, target);
  }
}
