import { type ChildProcess, spawn } from 'node:child_process';
import type { BuiltImage } from './engine.ts';

export interface ContainerOptions {
  /** Folders of this machine by their path in the container. Paths that end in `:ro` are read-only. */
  readonly mounts: Readonly<Record<string, string>>;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningContainer {
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves when a line of standard output matches; rejects if the container ends first. */
  line(pattern: RegExp): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  readonly exited: Promise<Ran>;
}

/**
 * Runs a program with its arguments in an image, as an engine does with `--read-only --tmpfs /tmp`: on a read-only file
 * system, with the user and variables of the image. It uses the network of this machine.
 */
export function startContainer(
  image: BuiltImage,
  program: readonly string[],
  { mounts }: ContainerOptions,
): RunningContainer {
  const { root, configuration } = image;
  const inside = (path: string) => quoted(root + path);
  const script = [
    'set -e',
    'mount --make-rprivate /',
    `mount --bind ${inside('')} ${inside('')}`,
    `mount -o remount,bind,ro ${inside('')}`,
    `mount -t proc proc ${inside('/proc')}`,
    `mount --rbind /dev ${inside('/dev')}`,
    `mount -t tmpfs tmpfs ${inside('/tmp')}`,
    ...Object.entries(mounts).flatMap(([place, folder]) => {
      const path = place.replace(/:ro$/, '');
      const bound = `mount --bind ${quoted(folder)} ${inside(path)}`;
      return path === place ? [bound] : [bound, `mount -o remount,bind,ro ${inside(path)}`];
    }),
    `exec chroot --userspec=${configuration.User} ${inside('')} env -i -C ${configuration.WorkingDir} ` +
      `${configuration.Env.map(quoted).join(' ')} ${program.map(quoted).join(' ')}`,
  ].join('\n');
  const child = spawn('unshare', ['--mount', 'sh', '-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  return watched(child);
}

/** The same, and waits for its end. */
export function runInContainer(image: BuiltImage, program: readonly string[], options: ContainerOptions): Promise<Ran> {
  return startContainer(image, program, options).exited;
}

function watched(child: ChildProcess): RunningContainer {
  let [stdout, stderr] = ['', ''];
  const watchers = new Set<() => void>();
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString('utf8');
    for (const watcher of watchers) watcher();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const exited = new Promise<Ran>((resolve) => {
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    exited,
    signal: (signal) => void child.kill(signal),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = stdout.split('\n').find((line) => pattern.test(line));
          if (found !== undefined) resolve(found);
        };
        watchers.add(look);
        look();
        exited.then(({ code }) => reject(new Error(`ended with ${code}: ${stderr}`)), reject);
      }),
  };
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
